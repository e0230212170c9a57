import { type ReadonlySignal, type Signal, signal } from '@preact/signals';

/** The choices of the user for this browser. */
export interface DeviceChoice {
  readonly isOn: boolean;
  /** Whether notifications have the text of messages. */
  readonly withText: boolean;
  readonly hasSound: boolean;
}

const prefix = 'parley-notifications-';
const initial: DeviceChoice = { isOn: false, withText: true, hasSound: true };

/** The choice of a user in this browser. All its tabs share it. */
export class Device {
  readonly #key: string;
  readonly #choice: Signal<DeviceChoice>;

  constructor(userId: number) {
    this.#key = `${prefix}${userId}`;
    this.#choice = signal(read(this.#key));
    addEventListener('storage', ({ key }: StorageEvent) => {
      if (key === this.#key || key === null) this.#choice.value = read(this.#key);
    });
  }

  get choice(): ReadonlySignal<DeviceChoice> {
    return this.#choice;
  }

  set(change: Partial<DeviceChoice>): void {
    this.#choice.value = { ...this.#choice.value, ...change };
    localStorage.setItem(this.#key, JSON.stringify(this.#choice.value));
  }
}

function read(key: string): DeviceChoice {
  try {
    return { ...initial, ...(JSON.parse(localStorage.getItem(key) ?? '{}') as Partial<DeviceChoice>) };
  } catch {
    return initial;
  }
}
