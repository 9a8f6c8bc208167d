import { spawn } from 'node:child_process'
import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import type { AddressInfo } from 'node:net'
import { createServer } from 'node:net'
import { dirname, join } from 'node:path'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import { clientConfig } from '../lib/aws-sdk.ts'
import { until } from './until.ts'

/** A running emulator. Stopping it keeps what it has stored. */
export type Emulator = { name: string; endpoint: string; stop: () => Promise<void> }

const require = createRequire(import.meta.url)

/**
 * Starts the embedded DynamoDB: dynoxide where its binary is installed (linux-x64), else dynalite.
 * @param folder where the data is kept; null for memory only
 */
export async function startDynamoDB(folder: string | null): Promise<Emulator> {
  const binary = dynoxideBinary()
  return binary ? startDynoxide(binary, folder) : startDynalite(folder)
}

function dynoxideBinary(): string | null {
  try {
    return join(dirname(require.resolve('@dynoxide/linux-x64/package.json')), 'dynoxide')
  } catch {
    return null
  }
}

/** Ends the emulator when its standard input closes, which it does however this process dies. */
const TIED_TO_PARENT = '"$@" & child=$!; read -r _; kill $child; wait $child'

async function startDynoxide(binary: string, folder: string | null): Promise<Emulator> {
  const port = await freePort()
  const options = ['serve', '--host', '127.0.0.1', '--port', String(port)]
  if (folder) options.push('--db-path', join(folder, 'dynoxide.sqlite'))
  const child = spawn('sh', ['-c', TIED_TO_PARENT, 'sh', binary, ...options], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Its own process group: an interrupt from the terminal must not stop the database before the service.
    detached: true,
  })
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const endpoint = `http://127.0.0.1:${port}`
  await until(() => answers(endpoint), { what: 'dynoxide to answer', limitMs: 10_000 })
  const stop = async () => {
    child.stdin.end()
    await exited
  }
  return { name: 'dynoxide', endpoint, stop }
}

export async function startDynalite(folder: string | null): Promise<Emulator> {
  const dynalite = require('dynalite') as (options: object) => Server
  const server = dynalite({ createTableMs: 0, ...(folder && { path: join(folder, 'dynalite') }) })
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen(0, '127.0.0.1', resolve)
  })
  const endpoint = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const stop = () =>
    new Promise<void>((resolve) => {
      server.closeAllConnections()
      server.close(() => resolve())
    })
  return { name: 'dynalite', endpoint, stop }
}

/** Whether a DynamoDB answers there. */
export async function answers(endpoint: string): Promise<boolean> {
  const client = new DynamoDBClient({ ...clientConfig(endpoint), maxAttempts: 1 })
  try {
    await client.send(new ListTablesCommand({ Limit: 1 }))
    return true
  } catch {
    return false
  }
}

/** A port of this machine that nobody listens on at the moment. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}
