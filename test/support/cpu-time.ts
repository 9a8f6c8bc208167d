/**
 * Median processor time of this thread in milliseconds for each size. Sizes are measured in turns, so that changes in the
 * load of the machine and warming up concern all of them.
 */
export function medianCpuTimes(
  sizes: readonly number[],
  prepare: (size: number) => () => void,
  rounds = 7,
): number[] {
  const runs = sizes.map((size) => ({ run: prepare(size), times: [] as number[] }))
  for (const { run } of runs) run()
  for (let round = 0; round < rounds; round += 1) {
    for (const { run, times } of runs) {
      const before = process.threadCpuUsage()
      run()
      const { user, system } = process.threadCpuUsage(before)
      times.push((user + system) / 1_000)
    }
  }
  return runs.map(({ times }) => times.sort((a, b) => a - b)[Math.floor(rounds / 2)] ?? 0)
}
