import type { Client, ExecutionComparison, ExecutionSummary } from '../../clients/typescript/src/index.ts'
import type { CliCommand, Result } from '../command.ts'
import { textTable, toSingleLine } from '../format.ts'
import { parseUuid } from '../options.ts'

/** Compares two executions. */
export function addCompareCommand(program: CliCommand): void {
  program
    .command('compare')
    .description('Compare the results and the steps of two executions.')
    .argument('<execution>', 'ID of an execution', parseUuid)
    .argument('<other>', 'ID of another one', parseUuid)
    .examples('compare <execution> <other>')
    .runWithService('read', 'compare the executions', (client, _, [id = '', other = '']) =>
      showComparison(client, id, other),
    )
}

export async function showComparison(client: Client, id: string, other: string): Promise<Result> {
  const comparison = await client.compare(id, other)
  return { json: comparison, text: describe(comparison) }
}

function describe({
  left,
  right,
  request,
  differences,
  isCut,
  steps,
  hasMoreSteps,
}: ExecutionComparison): string {
  const summary = ROWS.map(([name, read]) => [name, read(left), read(right)])
  const table = steps.map(({ number, otherNumber, name = '', isSame, differences, isCut }) => [
    String(number ?? '-'),
    String(otherNumber ?? '-'),
    name,
    isSame ? 'same' : describeCount(differences.length, isCut),
  ])
  const changed = steps.flatMap((step) => {
    if (step.isSame) return []
    const title = `step ${step.number ?? '-'} / ${step.otherNumber ?? '-'}${step.name ? ` ${toSingleLine(step.name)}` : ''}`
    return [title, ...describeDifferences(step.differences, step.isCut), '']
  })
  const isSame = differences.length === 0 && !isCut
  return [
    textTable(['', 'LEFT', 'RIGHT'], summary),
    '',
    ...(request.differences.length > 0
      ? ['request', ...describeDifferences(request.differences, request.isCut), '']
      : []),
    ...(isSame ? ['The results are the same.'] : ['result', ...describeDifferences(differences, isCut)]),
    '',
    ...(table.length > 0 ? [textTable(['STEP', 'OTHER', 'NAME', ''], table), ''] : []),
    ...changed,
    ...(hasMoreSteps ? ['There are more steps, which were not compared.'] : []),
  ]
    .join('\n')
    .trimEnd()
}

const ROWS: [name: string, read: (summary: ExecutionSummary) => string][] = [
  ['execution', ({ id }) => id],
  ['version', ({ versionId }) => versionId],
  ['status', ({ status, error }) => (error ? `${status} ${error.code}` : status)],
  ['source', ({ source }) => source],
  ['model', ({ model }) => model ?? '-'],
  ['steps', ({ steps }) => String(steps)],
  [
    'cost',
    ({ totalCostUsd }) => (totalCostUsd === null ? 'unknown' : `$${Number(totalCostUsd.toPrecision(3))}`),
  ],
  ['time', timeOf],
]

function timeOf({ startedAt, finishedAt }: ExecutionSummary): string {
  return startedAt && finishedAt ? `${Date.parse(finishedAt) - Date.parse(startedAt)} ms` : '-'
}

const describeCount = (count: number, isCut: true | undefined): string =>
  count === 1 && !isCut ? '1 difference' : `${isCut ? 'more than ' : ''}${count} differences`

/** `-` and `+` mark what the left and what the right one has. */
function describeDifferences(
  differences: ExecutionComparison['differences'],
  isCut: true | undefined,
): string[] {
  return [
    ...differences.flatMap((difference) => [
      `  ${toSingleLine(difference.path) || '(all)'}`,
      ...('left' in difference ? [`  - ${toText(difference.left)}`] : []),
      ...('right' in difference ? [`  + ${toText(difference.right)}`] : []),
    ]),
    ...(isCut ? ['  …'] : []),
  ]
}

const toText = (value: unknown): string => toSingleLine(JSON.stringify(value) ?? '')
