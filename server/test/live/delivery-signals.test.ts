import { expect, test } from 'bun:test';
import { onAnyEngine } from '../support/engines.ts';
import { users } from '../support/people.ts';
import { receiverFor } from '../support/receiver.ts';
import { serverFor } from '../support/server.ts';
import { type EventReader, listen } from '../support/streams.ts';
import { numbers, Scene } from '../support/webhook-scene.ts';

onAnyEngine('a signal that deliveries have changed', (engine) => {
  const receiver = receiverFor();
  const server = serverFor(engine, {}, { sweepMs: 20 });

  const untilChanged = (stream: EventReader, count: number) =>
    stream.until('the signal', ({ deliveryChanges }) => deliveryChanges.length >= count);

  test('reaches the streams of the owner after the attempt, and nobody else', async () => {
    const [scene, { bob }] = [await Scene.set(server(), 1), await users(server(), 'bob')];
    await scene.ada.ok('chats.add_participants', { chat_id: scene.chat(0), participants: [bob.userId] });
    const webhook_id = await scene.hook(receiver().endpoint());
    const streams = [await listen(scene.ada), await listen(scene.ada, { events: ['deliveries_changed'] })];
    const [other, filtered] = [await listen(bob), await listen(scene.ada, { events: ['new_message'] })];
    await scene.say(0, 'one');
    for (const stream of streams) {
      await untilChanged(stream, 1);
      expect(stream.deliveryChanges.map(({ data }) => data)).toEqual([{ webhook_id }]);
    }
    const { deliveries } = await scene.ada.ok('webhooks.deliveries', { webhook_id });
    expect(deliveries).toMatchObject([{ state: 'delivered' }]);
    await scene.say(0, 'two');
    for (const stream of [other, filtered]) {
      await stream.until('it has come to the end', ({ contents }) => contents.includes('two'));
      expect(stream.deliveryChanges).toEqual([]);
    }
    for (const stream of [...streams, other, filtered]) stream.breakOff();
  });

  test('is sent at most 5 times a second, and after the last change', async () => {
    const scene = await Scene.set(server(), 3);
    const webhook_id = await scene.hook(receiver().endpoint());
    const stream = await listen(scene.ada);
    await scene.sayEverywhere(20);
    await scene.untilSettled(webhook_id);
    const settledAt = Date.now();
    await stream.until(
      'the last signal',
      ({ deliveryChanges }) => Date.parse(deliveryChanges.at(-1)?.timestamp ?? '') >= settledAt - 500,
    );
    const times = stream.deliveryChanges.map(({ timestamp }) => Date.parse(timestamp));
    // Timers of the runtime may be a millisecond early.
    for (const [i, at] of times.slice(1).entries()) expect(at - (times[i] ?? 0)).toBeGreaterThanOrEqual(195);
    stream.breakOff();
  });

  test('comes also when its owner changes something, and when something has to wait', async () => {
    const scene = await Scene.set(server(), 1);
    const endpoint = receiver().endpoint({ status: 500 });
    const webhook_id = await scene.hook(endpoint);
    await scene.say(0, ...numbers(2));
    await scene.untilAttempts(webhook_id, 1);
    const stream = await listen(scene.ada);
    const [failing, waiting] = await scene.deliveries(webhook_id);
    await scene.ada.ok('webhooks.skip', { delivery_id: waiting?.delivery_id ?? 0 });
    await untilChanged(stream, 1);
    await Bun.sleep(250);
    const sofar = stream.deliveryChanges.length;
    await scene.say(0, 'waits');
    await untilChanged(stream, sofar + 1);
    expect((await scene.deliveries(webhook_id)).at(-1)).toMatchObject({ state: 'pending' });
    expect(failing?.state).toBe('retrying');
    stream.breakOff();
  });
});
