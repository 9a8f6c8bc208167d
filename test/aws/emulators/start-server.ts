import pRetry from 'p-retry'
import type { Emulator } from '../../../local/emulators/start-emulators.ts'
import { spawnEmulator } from '../../support/service/port-emulators.ts'

const MAX_START_MS = 60_000
const INTERVAL_MS = 100

type Options = {
  name: string
  endpoint: string
  command: string
  args: string[]
  environment?: Record<string, string>
}

/** Starts an emulator and waits for its first HTTP response. @throws an Error with its output when it exits first */
export async function startServer(options: Options): Promise<Emulator> {
  const { name, endpoint, command, args, environment } = options
  // Java programs write their log, which says why they stopped, to standard output.
  const script = ['-c', 'exec "$@" >&2', 'sh', command, ...args]
  const { exited, stop } = spawnEmulator('sh', script, environment)
  const exit = new AbortController()
  void exited.then((errors) => exit.abort(new Error(`${name} exited:\n${errors}`)))
  try {
    const waiting = { retries: MAX_START_MS / INTERVAL_MS, minTimeout: INTERVAL_MS, factor: 1 }
    await pRetry(() => fetch(endpoint), { ...waiting, maxRetryTime: MAX_START_MS, signal: exit.signal })
  } catch (error) {
    await stop()
    throw error
  }
  return { name, endpoint, stop }
}
