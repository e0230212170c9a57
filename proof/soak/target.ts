import type { Environment } from '../harness/child.ts';
import { serverCore } from '../harness/machine.ts';
import { Server } from '../harness/server.ts';
import type { HeapMetrics, SelfMetrics } from './server.ts';

/** The server that is measured. */
export class Target extends Server {
  static async open(env: Environment, leapEveryMs: number): Promise<Target> {
    const target = new Target(
      { ...env, SOAK_LEAP_MS: String(leapEveryMs) },
      { file: 'proof/soak/server.ts', core: serverCore },
    );
    await target.ready();
    target.check();
    return target;
  }

  selfMetrics(): Promise<SelfMetrics> {
    return this.#get<SelfMetrics>('/');
  }

  heapMetrics(): Promise<HeapMetrics> {
    return this.#get<HeapMetrics>('/heap');
  }

  async #get<T>(path: string): Promise<T> {
    const url = await this.said(/metrics on (http:\S+)\s/);
    return (await (await fetch(`${url}${path}`)).json()) as T;
  }
}
