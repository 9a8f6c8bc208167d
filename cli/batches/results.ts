import { open, rename, rm, stat } from 'node:fs/promises'
import type { OpenBatchResult } from '../../clients/typescript/src/index.ts'
import type { Result } from '../command.ts'
import { UserError } from '../errors.ts'
import { write } from '../terminal.ts'

/** Where results go. Without `finish`, a file does not exist, or stays what it was. */
export type ResultsFile = {
  write: (text: string) => Promise<void>
  finish: () => Promise<void>
  discard: () => Promise<void>
}

/** For a command that writes none. */
export const NOWHERE = ''

/**
 * Opens a file for results, or standard output for `-`. A file gets its name when it is complete.
 * @throws UserError if it cannot be written
 */
export async function openResults(out: string): Promise<ResultsFile> {
  if (out === '-') return toStdout
  if (out === NOWHERE) return { ...toStdout, write: async () => undefined }
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

/** What became of lines. `codes`: those of their errors, with how many lines have them. */
export type Summary = {
  lines: number
  succeeded: number
  failed: number
  open: number
  codes: Map<string, number>
}

/** Writes results as they arrive, one a line. */
export async function writeResults(
  results: AsyncIterable<OpenBatchResult>,
  file: ResultsFile,
): Promise<Summary> {
  const summary: Summary = { lines: 0, succeeded: 0, failed: 0, open: 0, codes: new Map() }
  for await (const result of results) {
    await file.write(`${JSON.stringify(result)}\n`)
    summary.lines++
    if (result.status === 'SUCCESS') summary.succeeded++
    else if (result.status === 'IN_PROGRESS') summary.open++
    else {
      const { code } = result.error
      summary.failed++
      summary.codes.set(code, (summary.codes.get(code) ?? 0) + 1)
    }
  }
  await file.finish()
  return summary
}

/** @param hint what to do about lines that failed */
export function toResult(ids: readonly string[], summary: Summary, out: string, hint: string): Result {
  const { lines, succeeded, failed, open, codes } = summary
  const counts = { lines, succeeded, failed, inProgress: open, codes: Object.fromEntries(codes) }
  const written = `Wrote ${lines} ${lines === 1 ? 'result' : 'results'} to ${out}.`
  const list = [...codes].map(([code, count]) => `${code} ${count}`).join(', ')
  const notes = [
    ...(open > 0 ? [`${open} of ${lines} lines have not ended.`] : []),
    ...(failed > 0 ? [`${failed} of ${lines} lines failed: ${list}.`, hint] : []),
  ]
  return {
    json: { batches: ids, ...counts, out },
    text: out === '-' ? '' : written,
    ...(notes.length > 0 && { note: notes.join('\n') }),
    hasFailed: failed > 0,
  }
}
