import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** What a proof has deployed, or was about to deploy. */
export type ProofState = {
  /** Also a tag of the stack, by which a later command recognizes it. */
  id: string
  stack: string
  account: string
  region: string
  startedAt: string
}

/**
 * The file that names the stack of a proof from before its deployment until it is destroyed, so that whatever kills the
 * proof, `--destroy` finds what is left.
 */
export function openStateFile(folder: string, stack: string) {
  const path = join(folder, `${stack}.json`)
  return {
    path,
    read(): ProofState | null {
      try {
        return JSON.parse(readFileSync(path, 'utf8')) as ProofState
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
        throw new Error(`${path} cannot be read: ${(error as Error).message}`)
      }
    },
    /** @throws an Error if there is one already */
    create(state: ProofState): void {
      mkdirSync(folder, { recursive: true })
      writeFileSync(path, `${JSON.stringify(state, null, 2)}\n`, { flag: 'wx' })
    },
    remove: () => rmSync(path, { force: true }),
  }
}

export type StateFile = ReturnType<typeof openStateFile>
