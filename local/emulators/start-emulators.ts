import type { Server } from 'node:http'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb'
import type { NodeHttpHandler } from '@smithy/node-http-handler'
import { clientConfig, handleInProcess, socketPathOf } from '../../lib/aws-sdk.ts'
import { type DynoxideProcess, startDynoxideProcess } from './dynoxide-process.ts'
import { decoder, type Listening, listenPrivately, serveDynamoDB } from './private-socket.ts'

/** A running emulator. `stop` keeps the stored data. */
export type Emulator = { name: string; endpoint: string; stop: () => Promise<void> }

const require = createRequire(import.meta.url)

/**
 * Starts the embedded DynamoDB: dynoxide where its binary is installed (linux-x64), otherwise dynalite. No port is
 * open: web pages can reach every port of this machine.
 * @param folder where the data is stored; null to keep it in memory
 */
export async function startEmbeddedDynamoDB(folder: string | null): Promise<Emulator> {
  const binary = findDynoxide()
  return binary ? startEmbeddedDynoxide(binary, folder) : startEmbeddedDynalite(folder)
}

async function startEmbeddedDynoxide(binary: string, folder: string | null): Promise<Emulator> {
  const file = folder && databaseFile(folder)
  const { call, stop } = await keepDynoxide(binary, file).catch(({ message }: Error) => {
    throw cannotOpen(file, message)
  })
  try {
    const { endpoint, close } = await serveDynamoDB(call)
    return { name: 'dynoxide', endpoint, stop: () => close().then(stop) }
  } catch (error) {
    await stop()
    throw error
  }
}

/** Before each attempt to start dynoxide again. */
const RESTART_MS = 500

/** Starts dynoxide, and with a file again when its process is killed, for example because the machine has no memory. */
async function keepDynoxide(
  binary: string,
  file: string | null,
): Promise<Pick<DynoxideProcess, 'call' | 'stop'>> {
  let isStopping = false
  const watch = (started: DynoxideProcess) => {
    void started.exited.then(() => {
      if (file && !isStopping) running = restart()
    })
    return started
  }
  const start = () => startDynoxideProcess(binary, file).then(watch)
  const restart = async (): Promise<DynoxideProcess> => {
    await sleep(RESTART_MS)
    return start().catch((error) => {
      if (isStopping) throw error
      return restart()
    })
  }
  let running = start()
  await running
  return {
    call: async (operation, input) => (await running).call(operation, input),
    async stop() {
      isStopping = true
      await running.then(({ stop }) => stop()).catch(() => undefined)
    },
  }
}

/** The path of the binary; null where it is not installed. */
export function findDynoxide(): string | null {
  try {
    return join(dirname(require.resolve('@dynoxide/linux-x64/package.json')), 'dynoxide')
  } catch {
    return null
  }
}

/** Where dynoxide keeps its data. */
export const databaseFile = (folder: string): string => join(folder, 'dynoxide.sqlite')

type Listen = (server: Server) => Promise<Listening>

export async function startEmbeddedDynalite(
  folder: string | null,
  listen: Listen = listenPrivately,
): Promise<Emulator> {
  const dynalite = require('dynalite') as (options: object) => Server
  const path = folder && join(folder, 'dynalite')
  if (path) await checkLevelDatabase(path)
  const server = dynalite({ createTableMs: 0, ...(path && { path }) })
  const { endpoint, close } = await listen(server)
  return { name: 'dynalite', endpoint, stop: close }
}

/** dynalite does not report that it cannot open its database: no request gets a response then. */
async function checkLevelDatabase(path: string): Promise<void> {
  const { Level } = createRequire(require.resolve('dynalite'))('level') as {
    Level: new (path: string) => { open(): Promise<void>; close(): Promise<void> }
  }
  const database = new Level(path)
  await database.open().catch(({ cause }: Error) => {
    throw cannotOpen(path, cause instanceof Error ? cause.message : String(cause))
  })
  await database.close()
}

export function cannotOpen(path: string | null, output: string): Error {
  const reason = output.replace(/^error: /i, '').trim()
  return new Error(
    `Cannot open the database ${path ?? 'in memory'}: ${reason} Restore it, or delete it to start over.`,
  )
}

/**
 * Starts the embedded SQS, in memory. The sweeper enqueues again what was queued when it stopped. `startFauxqs` is not
 * used, because it ignores its option `host` and listens on all addresses.
 */
export async function startEmbeddedSqs(listen: Listen = listenPrivately): Promise<Emulator> {
  const { buildApp } = await importQuietly()
  const app = buildApp({ logger: false })
  await app.ready()
  const { endpoint, close } = await listen(app.server)
  // Clients of this process need no connection. A port is for others.
  const isPrivate = socketPathOf(endpoint) !== undefined
  if (isPrivate)
    handleInProcess(endpoint, async ({ method, path, headers, body }) => {
      const {
        statusCode,
        headers: given,
        rawPayload,
      } = await app.inject({
        ...{ method: method as 'POST', url: path, headers },
        payload: decoder.decode(body as Uint8Array),
      })
      const response = { statusCode, headers: given, body: rawPayload }
      return { response } as unknown as Awaited<ReturnType<NodeHttpHandler['handle']>>
    })
  return { name: 'fauxqs', endpoint, stop: () => close().then(() => app.close()) }
}

/** Node.js 22 warns that its SQLite, which fauxqs imports, is experimental. */
async function importQuietly() {
  const { emitWarning } = process
  process.emitWarning = (warning: string | Error, ...rest: unknown[]) => {
    if (!`${warning}`.includes('SQLite')) (emitWarning as (...args: unknown[]) => void)(warning, ...rest)
  }
  return import('fauxqs').finally(() => {
    process.emitWarning = emitWarning
  })
}

/** A call that throws the SDK's error when no DynamoDB responds at the endpoint. */
export function createPing(endpoint: string): () => Promise<unknown> {
  const client = new DynamoDBClient({ ...clientConfig(endpoint), maxAttempts: 1 })
  return () => client.send(new ListTablesCommand({ Limit: 1 }))
}
