import { once } from 'node:events'
import { open, readFile, rm, stat, writeFile } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { socketPathOf } from '../../lib/aws-sdk.ts'
import { tryParseJson } from '../../lib/core/json/json.ts'

/** The process that has a data folder's database open. */
export type LockHolder = {
  pid: number
  /** Whether it will release the lock soon: a CLI command, or a service that is stopping. */
  isShortLived: boolean
  /** Null while the emulator starts. */
  endpoint: string | null
}

export type DatabaseLock = {
  update: (changes: Partial<Pick<LockHolder, 'endpoint' | 'isShortLived'>>) => Promise<void>
  release: () => Promise<void>
}

/** A holder without an endpoint for this long died while it started. */
const MAX_START_MS = 15_000

/**
 * Locks a data folder for this process: two emulators must not open the same files. Only its owner can read the lock.
 * @returns the lock, or the live process that holds it
 */
export async function acquireLock(
  folder: string,
  { isShortLived }: { isShortLived: boolean },
): Promise<DatabaseLock | LockHolder> {
  const file = join(folder, 'store.lock')
  for (;;) {
    const lock = await createLock(file, { pid: process.pid, isShortLived, endpoint: null })
    if (lock) return lock
    const text = await readFile(file, 'utf8').catch(() => null)
    if (text === null) continue
    const holder = await findLiveHolder(file, text)
    if (holder) return holder
    await removeStaleLock(file, text)
  }
}

/** Null if the file exists. */
async function createLock(file: string, initial: LockHolder): Promise<DatabaseLock | null> {
  const handle = await open(file, 'wx', 0o600).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
    return null
  })
  if (!handle) return null
  let holder = initial
  await handle.writeFile(JSON.stringify(holder))
  await handle.close()
  return {
    update: (changes) => {
      holder = { ...holder, ...changes }
      return writeFile(file, JSON.stringify(holder))
    },
    release: () => rm(file, { force: true }),
  }
}

/** Longer than a process takes to compare a file and to remove it. */
const MAX_REMOVAL_MS = 5_000

/**
 * Removes the lock of a dead process. One process at a time compares and removes; otherwise one could remove the lock
 * that another has just created.
 */
async function removeStaleLock(file: string, staleText: string): Promise<void> {
  const guard = `${file}.removing`
  const handle = await open(guard, 'wx').catch(() => null)
  if (!handle) {
    const { mtimeMs } = await stat(guard).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs > MAX_REMOVAL_MS) await rm(guard, { force: true })
    return new Promise((resolve) => setTimeout(resolve, 5))
  }
  try {
    if ((await readFile(file, 'utf8').catch(() => null)) === staleText) await rm(file, { force: true })
  } finally {
    await handle.close()
    await rm(guard, { force: true })
  }
}

/** Null if the holder is dead. A live process id is not enough: the system may have assigned it again. */
async function findLiveHolder(file: string, text: string): Promise<LockHolder | null> {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Date.now() }))
  const mayBeStarting = Date.now() - mtimeMs < MAX_START_MS
  // Incomplete while another process writes the file.
  const holder = tryParseJson(text) as LockHolder | undefined
  if (!holder) return mayBeStarting ? { pid: 0, isShortLived: true, endpoint: null } : null
  if (!isAlive(holder.pid)) return null
  if (holder.endpoint) return (await acceptsConnections(holder.endpoint)) ? holder : null
  return mayBeStarting ? holder : null
}

/** Does not wait for a response: an emulator may be busy. */
export async function acceptsConnections(endpoint: string): Promise<boolean> {
  const path = socketPathOf(endpoint)
  if (!path) return false
  const socket = connect(path)
  const connected = once(socket, 'connect').then(
    () => true,
    () => false,
  )
  return connected.finally(() => socket.destroy())
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}
