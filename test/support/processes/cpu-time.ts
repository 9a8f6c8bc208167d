/** The kernel may count processor time in ticks of 4 ms: a short run is repeated until ticks matter little. */
const MIN_MEASUREMENT_MS = 40
const MAX_REPETITIONS = 10

/**
 * Median processor time of this thread in milliseconds for each size, the smallest first. Sizes are measured in turns,
 * so that changes in the load of the machine and warming up concern all of them.
 */
export function medianCpuTimes(
  sizes: readonly number[],
  prepare: (size: number) => () => void,
  rounds = 7,
): number[] {
  const runs = sizes.map((size) => ({ run: prepare(size), times: [] as number[] }))
  const [firstMs = 0] = runs.map(({ run }) => elapsedMs(run))
  const repetitions = Math.min(Math.max(Math.ceil(MIN_MEASUREMENT_MS / firstMs), 1), MAX_REPETITIONS)
  for (let round = 0; round < rounds; round += 1)
    for (const { run, times } of runs) times.push(cpuMs(run, repetitions))
  return runs.map(({ times }) => times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0)
}

function elapsedMs(run: () => void): number {
  const startedAt = performance.now()
  run()
  return performance.now() - startedAt
}

function cpuMs(run: () => void, repetitions: number): number {
  const before = process.threadCpuUsage()
  for (let count = 0; count < repetitions; count += 1) run()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000 / repetitions
}
