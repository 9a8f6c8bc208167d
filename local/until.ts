/** Waits for a condition, looking again every few milliseconds. @throws an Error that names `what` after the limit */
export async function until(
  condition: () => Promise<boolean> | boolean,
  { what, limitMs, everyMs = 15 }: { what: string; limitMs: number; everyMs?: number },
): Promise<void> {
  const end = performance.now() + limitMs
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`Waited ${limitMs} ms in vain for ${what}.`)
    await new Promise((resolve) => setTimeout(resolve, everyMs))
  }
}
