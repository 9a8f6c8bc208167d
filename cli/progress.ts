const PATIENCE_MS = 1_000

/** Says on stderr what is being waited for, once it takes longer than a second. */
export async function withProgress<T>(what: string, work: Promise<T>): Promise<T> {
  const timer = setTimeout(() => process.stderr.write(`${what} …\n`), PATIENCE_MS)
  try {
    return await work
  } finally {
    clearTimeout(timer)
  }
}
