import type { BrowserContext, Page } from 'playwright-core';
import { pause } from '../harness/wait.ts';

/** A tab with an open chat. */
export class Tab {
  readonly name: string;
  readonly #url: string;
  readonly page: Page;
  /** Errors of the page itself. */
  readonly errors: string[] = [];

  private constructor(name: string, url: string, page: Page) {
    this.name = name;
    this.#url = url;
    this.page = page;
    page.on('pageerror', (error) => this.errors.push(`${name}: ${error.message}`));
  }

  static async open(context: BrowserContext, name: string, url: string): Promise<Tab> {
    const tab = new Tab(name, url, await context.newPage());
    await tab.load();
    return tab;
  }

  /** Loads the page as often as it takes. A person would press reload too. */
  async load(): Promise<void> {
    for (;;) {
      try {
        await this.page.goto(this.#url, { waitUntil: 'commit', timeout: 5_000 });
        await this.#field.waitFor({ timeout: 5_000 });
        return;
      } catch {
        await pause(200);
      }
    }
  }

  /** Types a text and presses Enter. */
  async type(text: string): Promise<void> {
    await this.#field.fill(text);
    await this.#field.press('Enter');
  }

  /** Returns the texts on the screen. */
  texts(): Promise<string[]> {
    return this.#log.locator('.message .markdown').allTextContents().then(trimmed);
  }

  /** Returns the texts that are on the screen more than once, at one moment. */
  async doubled(): Promise<string[]> {
    const texts = trimmed(
      await this.#log.evaluate((list) =>
        [...list.querySelectorAll('.message .markdown')].map(({ textContent }) => textContent ?? ''),
      ),
    );
    return texts.filter((text, i) => texts.indexOf(text) !== i);
  }

  async unsent(): Promise<number> {
    return this.#log.locator('.message.unsent').count();
  }

  /** Scrolls from the end to the start. Returns all texts in the order of the screen. */
  async readAll(): Promise<string[]> {
    await this.#scrollToEnd();
    let found = await this.texts();
    for (let steps = 0; steps < 4_000; steps++) {
      if ((await this.#log.getByText('This is the start of the chat.').count()) > 0) return found;
      await this.#scroll(-150);
      const shown = await this.texts();
      const known = shown.indexOf(found[0] ?? '');
      if (known >= 0) found = [...shown.slice(0, known), ...found];
      // The list grew at its start, and what was read is below the screen.
      else await this.#scroll(250);
    }
    throw new Error(`${this.name} never got to the start of the chat`);
  }

  /** Rows have their final heights only once they were on the screen, so the end may move away. */
  async #scrollToEnd(): Promise<void> {
    await this.#log.evaluate(async (list) => {
      for (let restful = 0; restful < 10; ) {
        const { scrollHeight, scrollTop, clientHeight } = list;
        if (scrollHeight - scrollTop - clientHeight < 2) restful++;
        else {
          restful = 0;
          list.scrollTop = scrollHeight;
        }
        await new Promise(requestAnimationFrame);
      }
    });
  }

  async #scroll(px: number): Promise<void> {
    await this.#log.evaluate(async (list, by) => {
      list.scrollTop += by;
      for (let frames = 0; frames < 3; frames++) await new Promise(requestAnimationFrame);
    }, px);
  }

  get #field() {
    return this.page.getByRole('textbox', { name: 'Message', exact: true });
  }

  get #log() {
    return this.page.getByRole('log', { name: 'Messages' });
  }
}

const trimmed = (texts: readonly string[]): string[] => texts.map((text) => text.trim());
