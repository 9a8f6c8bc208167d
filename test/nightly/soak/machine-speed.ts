import { createHash } from 'node:crypto'
import { median } from '../../../bench/harness/rounds.ts'

const INTERVAL_MS = 500
const TEXT = 'x'.repeat(1_000)

/**
 * Watches how fast the machine computes: the processor time of a fixed computation, twice a second. Virtual processors
 * slow down while others use the same hardware; latency then rises, although the service is the same.
 * @returns ends the watch, and returns the median in milliseconds
 */
export function watchSpeed(): () => number {
  const times = [measure()]
  const timer = setInterval(() => times.push(measure()), INTERVAL_MS).unref()
  return () => {
    clearInterval(timer)
    return median(times)
  }
}

function measure(): number {
  const before = process.threadCpuUsage()
  const hash = createHash('sha256')
  for (let index = 0; index < 1_000; index++) hash.update(JSON.stringify({ index, text: TEXT }))
  hash.digest()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1000
}
