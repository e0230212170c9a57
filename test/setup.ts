import { setDefaultTimeout } from 'bun:test';

// Catches hangs, and nothing else: a busy machine may take many times as long as an idle one.
setDefaultTimeout(120_000);
