import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Where a part of the benchmark works: what it starts and makes is gone when it is over, however it ends. */
export type Workplace = {
  /** A new folder. */
  folder: () => Promise<string>
  /** To be done at the end, the last first. */
  atEnd: (undo: () => Promise<unknown> | unknown) => void
  clear: () => Promise<void>
}

export function openWorkplace(): Workplace {
  const undos: (() => Promise<unknown> | unknown)[] = []
  return {
    async folder() {
      const path = await mkdtemp(join(tmpdir(), 'aes-bench-'))
      undos.push(() => rm(path, { recursive: true, force: true }))
      return path
    },
    atEnd: (undo) => {
      undos.push(undo)
    },
    async clear() {
      for (let undo = undos.pop(); undo; undo = undos.pop()) {
        // What cannot be stopped must not keep the rest running.
        await Promise.resolve(undo()).catch((error) => console.error(error))
      }
    },
  }
}
