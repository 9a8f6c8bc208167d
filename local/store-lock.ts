import { mkdir, open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'

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
    const found = await readFile(file, 'utf8').catch(() => null)
    if (found === null) continue
    const holder = await liveHolder(file, found)
    if (holder) return holder
    await removeDead(file, found)
  }
}

/** Longer than it takes to look at a file and remove it. */
const REMOVING_MS = 5_000

/** Takes a dead holder's file away. One process at a time looks and removes: else one could remove another's new file. */
async function removeDead(file: string, dead: string): Promise<void> {
  const guard = `${file}.removing`
  const handle = await open(guard, 'wx').catch(() => null)
  if (!handle) {
    const { mtimeMs } = await stat(guard).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > REMOVING_MS) await rm(guard, { force: true })
    return new Promise((resolve) => setTimeout(resolve, 5))
  }
  try {
    if ((await readFile(file, 'utf8').catch(() => null)) === dead) await rm(file)
  } finally {
    await handle.close()
    await rm(guard, { force: true })
  }
}

/** The holder that the file names, or null when it is gone: a process id alone may have been given to another since. */
async function liveHolder(file: string, text: string): Promise<Holder | null> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }))
  const isStarting = Date.now() - mtimeMs < STARTING_MS
  const holder = parseHolder(text)
  if (!holder) return isStarting ? { pid: 0, isPassing: true, endpoint: null } : null
  if (!isAlive(holder.pid)) return null
  if (holder.endpoint) return (await isOpen(holder.endpoint)) ? holder : null
  return isStarting ? holder : null
}

/** Null while the file is being written. */
function parseHolder(text: string): Holder | null {
  try {
    return JSON.parse(text) as Holder
  } catch {
    return null
  }
}

/** Whether something listens there, however long it takes to answer. */
function isOpen(endpoint: string): Promise<boolean> {
  const { hostname, port } = new URL(endpoint)
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname)
    const settle = (open: boolean) => {
      socket.destroy()
      resolve(open)
    }
    socket.once('connect', () => settle(true))
    socket.once('error', () => settle(false))
  })
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
