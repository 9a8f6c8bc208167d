import { existsSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { DYNAMODB_ENDPOINT, type Environment } from '../../lib/environment.ts'
import { cannotWrite, createDataFolder, dataFolder } from '../data-folder.ts'
import { acquireLock, type DatabaseLock } from './database-lock.ts'
import { LOCAL_TABLE, provisionTable } from './provision.ts'
import { createPing, type Emulator, startEmbeddedDynamoDB } from './start-emulators.ts'

/** Longer than a CLI command uses the database, and than a service takes to stop. */
const MAX_WAIT_MS = 20_000
/** How long a service waits for another one, which may have lost its parent and be about to notice it. */
const MAX_WAIT_FOR_SERVICE_MS = 1_000
const POLL_MS = 50

export type Database = Emulator & {
  /** Tells other processes that the lock will be released soon. */
  announceStop: () => Promise<void>
}

/**
 * The provisioned table on this machine: that of `DYNAMODB_ENDPOINT`, otherwise that of the data folder. A CLI command
 * uses the database of a running service. Two services cannot share one.
 * @param assertFree throws if the service cannot start, before anything is opened or created
 * @throws an Error when another service uses the data folder
 */
export async function openDatabase(
  role: 'service' | 'command',
  environment: Environment = process.env,
  assertFree = async () => {},
): Promise<Database> {
  const endpoint = environment[DYNAMODB_ENDPOINT]
  const folder = dataFolder(environment)
  // In an existing folder, the service that has the port may be stopping.
  if (endpoint || !existsSync(folder)) await assertFree()
  const database = endpoint
    ? await connect(endpoint)
    : await openFolder(role === 'command', folder, assertFree)
  await provisionTable(database.endpoint, LOCAL_TABLE)
  return database
}

async function connect(endpoint: string): Promise<Database> {
  try {
    await createPing(endpoint)()
  } catch (cause) {
    throw new Error(`No DynamoDB responds at ${endpoint} (${DYNAMODB_ENDPOINT}).`, { cause })
  }
  return externalDatabase(endpoint)
}

async function openFolder(
  isCommand: boolean,
  folder: string,
  assertFree: () => Promise<void>,
): Promise<Database> {
  const startedAt = performance.now()
  const waitedMs = () => performance.now() - startedAt
  await createDataFolder(folder)
  for (;;) {
    const lock = await acquireLock(folder, { isShortLived: isCommand }).catch((cause: Error) => {
      throw cannotWrite(folder, cause)
    })
    if ('release' in lock) return startOn(folder, lock, assertFree)
    const { pid, endpoint, isShortLived } = lock
    if (isCommand && endpoint && !isShortLived) return externalDatabase(endpoint)
    const limitMs = isCommand || isShortLived ? MAX_WAIT_MS : MAX_WAIT_FOR_SERVICE_MS
    if (waitedMs() > limitMs) {
      throw new Error(
        isShortLived
          ? `Process ${pid} still uses ${folder}. Wait until it exits.`
          : `The service already runs on ${folder} (process ${pid}). Stop it, or set DATA_DIR.`,
      )
    }
    await sleep(POLL_MS)
  }
}

async function startOn(
  folder: string,
  lock: DatabaseLock,
  assertFree: () => Promise<void>,
): Promise<Database> {
  try {
    await assertFree()
    const emulator = await startEmbeddedDynamoDB(folder)
    await lock.update({ endpoint: emulator.endpoint })
    return {
      name: `${folder} (${emulator.name})`,
      endpoint: emulator.endpoint,
      announceStop: () => lock.update({ isShortLived: true }),
      stop: async () => {
        // A process that finds no emulator at the endpoint takes the lock's holder for dead.
        await lock.update({ isShortLived: true, endpoint: null })
        await emulator.stop()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** A database that another process started and will stop. */
function externalDatabase(endpoint: string): Database {
  const doNothing = async () => undefined
  return { name: endpoint, endpoint, announceStop: doNothing, stop: doNothing }
}
