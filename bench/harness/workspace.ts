import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** Tracks everything that a benchmark starts or creates, so that nothing is left behind after an error or Ctrl-C. */
export type Workspace = {
  createFolder: () => Promise<string>
  onCleanUp: (undo: () => unknown) => void
  /** Runs the registered functions, newest first. */
  cleanUp: () => Promise<void>
}

export function openWorkspace(): Workspace {
  const undos: (() => unknown)[] = []
  return {
    async createFolder() {
      const path = await mkdtemp(join(tmpdir(), 'aes-bench-'))
      undos.push(() => rm(path, { recursive: true, force: true }))
      return path
    },
    onCleanUp: (undo) => {
      undos.push(undo)
    },
    async cleanUp() {
      for (let undo = undos.pop(); undo; undo = undos.pop()) {
        try {
          await undo()
        } catch (error) {
          // The remaining functions still have to run.
          console.error(error)
        }
      }
    },
  }
}
