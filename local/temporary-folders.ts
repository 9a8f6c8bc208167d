import { chmod, mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { toSocketEndpoint } from '../lib/aws-sdk.ts'
import { acceptsConnections, isAlive } from './emulators/database-lock.ts'

/** Their names contain the id of the process that created them. */
const NAME = /^(?:aes|aes-types|agent-code|agent-load)-(\d+)-\w{6}$/

/** Of a socket in a temporary folder. */
export const SOCKET_FILE = 'socket'

/** Of the folder for temporary files, so that the path of a socket in one of ours has at most 103. */
const MAX_CHARACTERS = 77

const parentFolder = () => (tmpdir().length > MAX_CHARACTERS ? '/tmp' : tmpdir())

/** Creates a folder that only this user can open. */
export const createTemporaryFolder = (purpose: 'aes' | 'aes-types'): Promise<string> =>
  mkdtemp(join(parentFolder(), `${purpose}-${process.pid}-`))

/** Removes the temporary folders of processes that were killed, unless a process listens on a socket there. */
export async function removeStaleFolders(parent: string = parentFolder()): Promise<void> {
  for (const name of await readdir(parent)) {
    const pid = Number(NAME.exec(name)?.[1] ?? process.pid)
    const folder = join(parent, name)
    if (isAlive(pid) || (await acceptsConnections(toSocketEndpoint(join(folder, SOCKET_FILE))))) continue
    // Those of other users cannot be removed. Those of code cannot be written.
    await chmod(folder, 0o700)
      .then(() => rm(folder, { recursive: true, force: true }))
      .catch(() => undefined)
  }
}
