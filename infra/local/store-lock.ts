import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { answers } from './dynamodb.ts'

/**
 * Who has opened the store of a data folder. One that is passing lets go of it soon: a command of the CLI, or a service
 * that is ending.
 */
export type Holder = { pid: number; isPassing: boolean; endpoint: string | null }

export type StoreLock = {
  update: (changes: Partial<Pick<Holder, 'endpoint' | 'isPassing'>>) => Promise<void>
  release: () => Promise<void>
}

/** A holder that has announced no endpoint for this long has died while it started. */
const STARTING_MS = 15_000

/**
 * Takes a data folder's store for this process, since two emulators must not open the same files.
 * @returns the lock, or who holds it
 */
export async function takeStore(folder: string, isPassing: boolean): Promise<StoreLock | Holder> {
  await mkdir(folder, { recursive: true })
  const file = join(folder, 'store.lock')
  for (;;) {
    const handle = await open(file, 'wx').catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
      return null
    })
    if (handle) {
      let own: Holder = { pid: process.pid, isPassing, endpoint: null }
      await handle.writeFile(JSON.stringify(own))
      await handle.close()
      return {
        update: (changes) => {
          own = { ...own, ...changes }
          return writeFile(file, JSON.stringify(own))
        },
        release: () => rm(file, { force: true }),
      }
    }
    const holder = await liveHolder(file)
    if (holder) return holder
    await rm(file, { force: true })
  }
}

/** The holder that the file names, or null when it is gone: a process id alone may have been given to another since. */
async function liveHolder(file: string): Promise<Holder | null> {
  const age = await stat(file).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => null,
  )
  if (age === null) return null
  const holder = await readFile(file, 'utf8')
    .then((text) => JSON.parse(text) as Holder)
    .catch(() => null)
  if (!holder) return age < STARTING_MS ? { pid: 0, isPassing: true, endpoint: null } : null
  if (!isAlive(holder.pid)) return null
  if (holder.endpoint) return (await answers(holder.endpoint)) ? holder : null
  return age < STARTING_MS ? holder : null
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
