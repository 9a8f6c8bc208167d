import { afterAll, vi } from 'vitest'

/** On a busy machine, the default of a second is too short for `vi.waitFor` and `vi.waitUntil`. */
const WAIT_LIMIT_MS = 60_000

type Waits = Pick<typeof vi, 'waitFor' | 'waitUntil'>
type Options = Parameters<Waits['waitFor']>[1]

// Files share a worker's modules, and this one is loaded for each of them.
const shared = globalThis as { originalWaits?: Waits }
shared.originalWaits ??= { waitFor: vi.waitFor, waitUntil: vi.waitUntil }
const { waitFor, waitUntil } = shared.originalWaits

const patient = (options: Options = {}): Options =>
  typeof options === 'number' ? options : { timeout: WAIT_LIMIT_MS, ...options }

vi.waitFor = (callback, options) => waitFor(callback, patient(options))
vi.waitUntil = (callback, options) => waitUntil(callback, patient(options))

// Files share a worker, and with it the environment.
afterAll(() => void vi.unstubAllEnvs())
