// Asks again and again. Slows down when the tab is hidden or the API complains.

export const POLL_MS = 20_000;
export const HIDDEN_FACTOR = 6;
export const MAX_MS = 300_000;

export interface Poll {
  stop(): void;
}

export function poll(
  work: () => Promise<void>,
  onTrouble: (failures: number) => void,
  hidden: () => boolean = () => document.hidden,
): Poll {
  let failures = 0;
  let stopped = false;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function pause(): number {
    const base = POLL_MS * (hidden() ? HIDDEN_FACTOR : 1);
    return Math.min(base * 2 ** failures, MAX_MS);
  }

  async function round(): Promise<void> {
    try {
      await work();
      failures = 0;
    } catch {
      failures += 1;
      onTrouble(failures);
    }
    if (!stopped) timer = setTimeout(round, pause());
  }

  void round();
  return {
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
