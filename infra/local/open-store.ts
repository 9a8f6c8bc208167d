import { DYNAMODB_ENDPOINT, type Environment } from '../../lib/environment.ts'
import { type Emulator, startDynamoDB } from './dynamodb.ts'
import { provisionTable } from './provision.ts'
import { type Holder, takeStore } from './store-lock.ts'
import { until } from './until.ts'

export const LOCAL_TABLE = 'agent-execution-service'

export const dataFolder = (environment: Environment = process.env): string => environment.DATA_DIR || '.local'

/** Longer than a CLI command holds a store. */
const HELD_MS = 20_000

/**
 * The table on this machine, provisioned: of `DYNAMODB_ENDPOINT`, else of the data folder. A CLI command shares the
 * store of a running service; the service shares with nobody.
 * @throws an Error when another service runs on the data folder
 */
export async function openStore(
  role: Holder['role'],
  environment: Environment = process.env,
): Promise<Emulator> {
  const endpoint = environment[DYNAMODB_ENDPOINT]
  const store = endpoint ? external(endpoint) : await openFolder(role, dataFolder(environment))
  await provisionTable(store.endpoint, LOCAL_TABLE)
  return store
}

async function openFolder(role: Holder['role'], folder: string): Promise<Emulator> {
  let taken = await takeStore(folder, role)
  const isPassing = (holder: Holder) => holder.role === 'command' || (role === 'command' && !holder.endpoint)
  await until(
    async () => {
      if ('release' in taken || !isPassing(taken)) return true
      taken = await takeStore(folder, role)
      return 'release' in taken || !isPassing(taken)
    },
    { what: `another command to let go of ${folder}`, limitMs: HELD_MS, everyMs: 100 },
  )
  if (!('release' in taken)) {
    if (role === 'command' && taken.endpoint) return external(taken.endpoint)
    throw new Error(`The service already runs on ${folder} (process ${taken.pid}). Stop it, or set DATA_DIR.`)
  }
  const lock = taken
  try {
    const emulator = await startDynamoDB(folder)
    await lock.announce(emulator.endpoint)
    const stop = async () => {
      await emulator.stop()
      await lock.release()
    }
    return { name: `${folder} (${emulator.name})`, endpoint: emulator.endpoint, stop }
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** An emulator that somebody else runs, and ends. */
function external(endpoint: string): Emulator {
  return { name: endpoint, endpoint, stop: async () => undefined }
}
