/** `FAULTS_SEED`, or a random seed. */
export function seedFromEnvironment(given: string | undefined = process.env.FAULTS_SEED): number {
  if (!given) return Math.floor(Math.random() * 1_000_000)
  const seed = Number(given)
  if (!Number.isSafeInteger(seed)) throw new Error(`FAULTS_SEED is "${given}"; it must be an integer.`)
  return seed
}
