import { open, rename, rm, stat } from 'node:fs/promises'
import { UserError } from '../errors.ts'
import { write } from '../terminal.ts'

/** Where results go. Without `finish`, a file does not exist, or stays what it was. */
export type ResultsFile = {
  write: (text: string) => Promise<void>
  finish: () => Promise<void>
  discard: () => Promise<void>
}

/**
 * Opens a file for results, or standard output for `-`. A file gets its name when it is complete.
 * @throws UserError if it cannot be written
 */
export async function openResults(out: string): Promise<ResultsFile> {
  if (out === '-') return toStdout
  const explain = (error: unknown) => {
    throw new UserError(`${out} cannot be written: ${(error as Error).message}`)
  }
  const found = await stat(out).catch(() => null)
  if (found?.isDirectory()) throw new UserError(`${out} is a folder. Specify a file.`)
  // A device or a pipe has no other name for a while.
  const isFile = found?.isFile() ?? true
  const path = isFile ? `${out}.${process.pid}.partial` : out
  const file = await open(path, 'w').catch(explain)
  const discard = async () => {
    await file.close().catch(() => undefined)
    if (isFile) await rm(path, { force: true })
  }
  return {
    write: (text) => file.appendFile(text).catch(explain),
    async finish() {
      try {
        if (isFile) await file.sync()
        await file.close()
        if (isFile) await rename(path, out)
      } catch (error) {
        explain(error)
      }
    },
    discard,
  }
}

const toStdout: ResultsFile = {
  async write(text) {
    if (!(await write(process.stdout, text))) throw new UserError('Standard output was closed.')
  },
  finish: async () => undefined,
  discard: async () => undefined,
}
