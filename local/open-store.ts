import { DYNAMODB_ENDPOINT, type Environment } from '../lib/environment.ts'
import { answers, type Emulator, startDynamoDB } from './dynamodb.ts'
import { provisionTable } from './provision.ts'
import { type StoreLock, takeStore } from './store-lock.ts'

export const LOCAL_TABLE = 'agent-execution-service'

export const dataFolder = (environment: Environment = process.env): string => environment.DATA_DIR || '.local'

/** Longer than a CLI command holds a store, or a service takes to end. */
const PASSING_MS = 20_000
/** A service that has lost its parent needs a moment to see that it has to end. */
const SEEING_MS = 1_000

export type Store = Emulator & {
  /** Tells who wants the store next that it will be free soon. */
  announceEnd: () => Promise<void>
}

/**
 * The table on this machine, provisioned: of `DYNAMODB_ENDPOINT`, else of the data folder. A CLI command shares the
 * store of a running service; the service shares with nobody.
 * @throws an Error when another service runs on the data folder
 */
export async function openStore(
  role: 'service' | 'command',
  environment: Environment = process.env,
): Promise<Store> {
  const endpoint = environment[DYNAMODB_ENDPOINT]
  if (endpoint && !(await answers(endpoint)))
    throw new Error(`No DynamoDB answers at ${endpoint} (${DYNAMODB_ENDPOINT}).`)
  const store = endpoint ? external(endpoint) : await openFolder(role, dataFolder(environment))
  await provisionTable(store.endpoint, LOCAL_TABLE)
  return store
}

async function openFolder(role: 'service' | 'command', folder: string): Promise<Store> {
  const isCommand = role === 'command'
  const startedAt = performance.now()
  let taken = await takeStore(folder, isCommand)
  const isSettled = () => {
    if ('release' in taken) return true
    if (taken.isPassing) return false
    return isCommand ? taken.endpoint !== null : performance.now() - startedAt > SEEING_MS
  }
  while (!isSettled() && performance.now() - startedAt < PASSING_MS) {
    await new Promise((resolve) => setTimeout(resolve, 50))
    taken = await takeStore(folder, isCommand)
  }
  if ('release' in taken) return startOn(folder, taken)
  if (isCommand && taken.endpoint && !taken.isPassing) return external(taken.endpoint)
  if (taken.isPassing)
    throw new Error(`Process ${taken.pid} does not let go of ${folder}. Wait for it to end.`)
  throw new Error(`The service already runs on ${folder} (process ${taken.pid}). Stop it, or set DATA_DIR.`)
}

async function startOn(folder: string, lock: StoreLock): Promise<Store> {
  try {
    const emulator = await startDynamoDB(folder)
    await lock.update({ endpoint: emulator.endpoint })
    return {
      name: `${folder} (${emulator.name})`,
      endpoint: emulator.endpoint,
      announceEnd: () => lock.update({ isPassing: true }),
      stop: async () => {
        await emulator.stop()
        await lock.release()
      },
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** An emulator that somebody else runs, and ends. */
function external(endpoint: string): Store {
  const nothing = async () => undefined
  return { name: endpoint, endpoint, announceEnd: nothing, stop: nothing }
}
