import type { Command } from 'commander'
import { formatCommand, shellQuote } from '../format.ts'
import type { SharedOptions } from '../options.ts'

type Service = Pick<SharedOptions, 'url'>

/** A command of `batches` with the same service. It takes the token from the environment. */
export const batchesCommand = (args: string, { url }: Service): string =>
  formatCommand({ url }, `batches ${args}`)

/** A command of `trials` with the same service. */
export const trialsCommand = (args: string, { url }: Service): string =>
  formatCommand({ url }, `trials ${args}`)

export const resultsCommand = (ids: readonly string[], service: Service, out: string): string =>
  batchesCommand(`results ${ids.join(' ')}${out === '-' ? '' : ` --out ${shellQuote(out)}`}`, service)

/** Options that a repeated command gets from elsewhere. */
const LEFT_OUT = /^--(token|idempotency-key)(=|$)/

/** The command line as it was typed, without secrets. */
export function typedArgs(command: Command): string[] {
  let root = command
  while (root.parent) root = root.parent
  const { rawArgs } = root as unknown as { rawArgs: string[] }
  return rawArgs.filter((arg, index) => {
    const before = rawArgs[index - 1] ?? ''
    const isValue = LEFT_OUT.test(before) && !before.includes('=')
    return !LEFT_OUT.test(arg) && !isValue
  })
}

/** Where inputs are in a file, by their position from 1. Only the gaps are kept. */
export function newLineNumbers() {
  const gaps: { from: number; size: number }[] = []
  let count = 0
  return {
    count: () => count,
    add(line: number): void {
      count++
      const size = line - count
      if (size !== (gaps.at(-1)?.size ?? 0)) gaps.push({ from: count, size })
    },
    of: (position: number): number => position + (gaps.findLast(({ from }) => from <= position)?.size ?? 0),
  }
}
