import { spawn } from 'node:child_process'
import type { Server } from 'node:http'
import { type AddressInfo, createServer } from 'node:net'
import pRetry from 'p-retry'
import { SEPARATE, watchEmulator } from '../../../local/emulators/dynoxide-process.ts'
import { closeNow } from '../../../local/emulators/private-socket.ts'
import {
  cannotOpen,
  createPing,
  databaseFile,
  type Emulator,
  findDynoxide,
  startEmbeddedDynalite,
  startEmbeddedSqs,
} from '../../../local/emulators/start-emulators.ts'

/**
 * Starts the embedded DynamoDB on a port, which is open to every process and web page of this machine.
 * @param folder where the data is stored; null to keep it in memory
 */
export async function startDynamoDB(folder: string | null): Promise<Emulator> {
  const binary = findDynoxide()
  return binary ? startDynoxide(binary, folder) : startDynalite(folder)
}

export const startDynalite = (folder: string | null): Promise<Emulator> =>
  startEmbeddedDynalite(folder, listenOnPort)

export const startSqs = (): Promise<Emulator> => startEmbeddedSqs(listenOnPort)

const MAX_START_MS = 10_000

async function startDynoxide(binary: string, folder: string | null): Promise<Emulator> {
  const port = await freePort()
  const options = ['serve', '--host', '127.0.0.1', '--port', String(port)]
  const file = folder && databaseFile(folder)
  if (file) options.push('--db-path', file)
  const { exited, stop } = spawnEmulator(binary, options)
  const exit = new AbortController()
  void exited.then((errors) => exit.abort(cannotOpen(file, errors)))
  const endpoint = `http://127.0.0.1:${port}`
  const ping = createPing(endpoint)
  try {
    const retries = { retries: MAX_START_MS, minTimeout: 15, factor: 1, maxRetryTime: MAX_START_MS }
    await pRetry(ping, { ...retries, signal: exit.signal })
  } catch (error) {
    void stop()
    throw error
  }
  return { name: 'dynoxide', endpoint, stop }
}

async function listenOnPort(server: Server) {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const { port } = server.address() as AddressInfo
  return { endpoint: `http://127.0.0.1:${port}`, close: () => closeNow(server) }
}

/** A port of this machine that is not in use. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

/**
 * Stops the emulator when its standard input closes, which happens however this process dies. Exits when the emulator
 * does. The shell gives background commands no standard input, hence descriptor 3.
 */
const STOP_WITH_PARENT =
  'exec 3<&0; "$@" & child=$!; { read -r _ <&3; kill $child; } 2>/dev/null & wait $child'

/** Starts a program that runs until it is stopped. Its standard output is discarded. */
export function spawnEmulator(command: string, args: string[], environment: Record<string, string> = {}) {
  return watchEmulator(
    spawn('sh', ['-c', STOP_WITH_PARENT, 'sh', command, ...args], {
      stdio: ['pipe', 'ignore', 'pipe'],
      env: { ...process.env, ...environment },
      ...SEPARATE,
    }),
  )
}
