import type { OpenBatchResult } from '../../clients/typescript/src/index.ts'
import type { Result } from '../command.ts'
import type { ResultsFile } from './results-file.ts'

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
