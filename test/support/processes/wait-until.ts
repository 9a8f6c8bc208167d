/** Polls a condition, also outside Vitest. @throws an Error that names `what` after `limitMs` */
export async function waitUntil(
  condition: () => Promise<boolean> | boolean,
  { what, limitMs, intervalMs = 15 }: { what: string; limitMs: number; intervalMs?: number },
): Promise<void> {
  const deadline = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > deadline) throw new Error(`Waited ${limitMs} ms for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, intervalMs))
  }
}
