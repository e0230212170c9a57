let context: AudioContext | undefined;

const [low, high] = [587.33, 880];
const lengthS = 0.32;
const volume = 0.07;

/** Plays two short, quiet tones. Browsers allow it once the user has done something on the page. */
export async function ring(): Promise<void> {
  if (!navigator.userActivation?.hasBeenActive) return;
  context ??= new AudioContext();
  await context.resume();
  const at = context.currentTime;
  const gain = context.createGain();
  gain.gain.setValueAtTime(0, at);
  gain.gain.linearRampToValueAtTime(volume, at + 0.015);
  gain.gain.exponentialRampToValueAtTime(0.0005, at + lengthS);
  gain.connect(context.destination);
  const tone = context.createOscillator();
  tone.frequency.setValueAtTime(low, at);
  tone.frequency.setValueAtTime(high, at + 0.09);
  tone.connect(gain);
  tone.start(at);
  tone.stop(at + lengthS);
}
