/** Names the variable that repeats what tests draw at random. `npm run nightly` sets it, and prints it. */
export const TEST_SEED = 'TEST_SEED'

/**
 * The seed of `TEST_SEED`, or a random one.
 * @throws Error if it is no integer.
 */
export function readSeed(given: string | undefined = process.env[TEST_SEED]): number {
  if (!given) return Math.floor(Math.random() * 1_000_000)
  const seed = Number(given)
  if (!Number.isSafeInteger(seed)) throw new Error(`${TEST_SEED} is "${given}"; it must be an integer.`)
  return seed
}
