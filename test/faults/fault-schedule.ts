import { seeded } from './random.ts'

/**
 * What may happen to a request between a service and an emulator:
 * `delay`, it is forwarded later; `drop`, the connection is cut before it is forwarded; `duplicate`, it is carried out
 * twice and the second answer counts; `throttle`, it is refused and not carried out; `cut`, it is carried out, and the
 * connection is cut in place of an answer.
 */
export const FAULTS = ['delay', 'drop', 'duplicate', 'throttle', 'cut'] as const

export type Fault = (typeof FAULTS)[number]

const MIN_DELAY_MS = 50
const MAX_DELAY_MS = 500

/** The faults of a proxy's requests, in their order. `rate` is the share of requests that meet one, each kind as often. */
export function faultSchedule(seed: number, name: string) {
  const random = seeded(seed, `faults of ${name}`)
  return (rate: number): { fault: Fault | null; delayMs: number } => {
    // Always two draws, so that the nth request's numbers depend on the seed alone.
    const [chance, delay] = [random.next(), random.next()]
    const fault = chance < rate ? FAULTS[Math.floor((chance / rate) * FAULTS.length)] : undefined
    return { fault: fault ?? null, delayMs: MIN_DELAY_MS + delay * (MAX_DELAY_MS - MIN_DELAY_MS) }
  }
}
