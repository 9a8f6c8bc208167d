import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { CASES_FILE } from '../../authoring/cases/case-file.ts'
import { type CorrectedCase, findCorrected, toCorrectedCases } from '../../authoring/cases/corrected-cases.ts'
import { findSentFields, type SentFields } from '../../authoring/cases/sent-fields.ts'
import { recordingFile, writeRecording } from '../../authoring/recording/recording.ts'
import type { Agent } from '../../lib/core/agent.ts'
import { readPages } from '../../lib/core/read-pages.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import { CasesFile } from '../cases/cases-file.ts'
import type { Result } from '../command.ts'
import { type TableConnection, withOrganization } from '../connect.ts'
import { UserError } from '../errors.ts'
import { findAgent } from '../explain-errors.ts'
import { formatCommand, shellQuote, toSingleLine } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { confirm } from '../prompt.ts'
import { readAll } from '../take.ts'

type Options = SharedOptions & { folder?: string; last: number; yes?: true }

/** The cases that an agent gets. */
type Addition = { slug: string; folder: string; file: CasesFile; added: CorrectedCase[]; unread: string[] }

/**
 * Adds cases of corrected executions, with recordings of what they received from models and tools. Names the fields
 * whose values are written, and asks.
 * @throws UserError
 */
export async function addCorrectedCases(idOrSlug: string | undefined, options: Options): Promise<Result> {
  if (idOrSlug === undefined && options.folder !== undefined)
    throw new UserError('--folder belongs to one agent: name it before --corrected.')
  const additions = await withOrganization(options, async (connection) => {
    const { stores } = connection
    const agents = await findAgents(connection, idOrSlug, options)
    const found: Addition[] = []
    for (const agent of agents) found.push(await findAddition(stores, agent, options))
    return found.filter(({ added }) => added.length > 0)
  })
  const all = additions.flatMap(({ added }) => added)
  if (all.length === 0)
    return { json: { agents: [], fields: null }, text: 'No corrected execution that is not a case already.' }
  const fields = findSentFields(all)
  const unmasked = [...new Set(additions.flatMap(({ unread }) => unread))].sort()
  const details = describe(additions, fields, unmasked)
  if (!options.yes && !(await confirm('Write them?', details)))
    return { json: { agents: [], fields, unmasked }, text: 'Nothing was written.', hasFailed: true }
  for (const { folder, file, added } of additions) {
    const names = [...file.cases, ...added.map(({ testCase }) => testCase)].map(({ name }) => name)
    for (const { testCase, recording } of added)
      if (recording) await writeRecording(recordingFile(folder, testCase.name, names), recording)
    await file.append(added.map(({ testCase }) => testCase))
  }
  return {
    json: { agents: additions.map(toJson), fields, unmasked },
    text: additions.map(toText).join('\n\n'),
  }
}

/** The agent, or those that have a folder. */
async function findAgents(
  connection: TableConnection,
  idOrSlug: string | undefined,
  options: Options,
): Promise<Agent[]> {
  const { stores, organization } = connection
  const organizationId = organization.id
  if (idOrSlug !== undefined) {
    const { id } = await findAgent(connection, idOrSlug)
    const found = await stores.agents.get({ organizationId, id })
    return found ? [found] : []
  }
  const all = await readAll(readPages((page) => stores.agents.list({ organizationId, ...page })))
  return all.filter(({ slug }) => existsSync(folderOf(slug, options)))
}

const folderOf = (slug: string, { folder }: Options): string => folder ?? join('agents', slug)

async function findAddition(stores: Stores, agent: Agent, options: Options): Promise<Addition> {
  const { slug } = agent
  const folder = folderOf(slug, options)
  const file = await CasesFile.open(folder)
  const executions = await findCorrected(stores, agent, options.last)
  const { cases } = file
  const params = { stores, environment: process.env, cases }
  return { slug, folder, file, ...(await toCorrectedCases(params, executions)) }
}

/** What is written, and the names of all fields whose values it contains. */
function describe(
  additions: Addition[],
  { input, output, tools, declarations, approvals, signals }: SentFields,
  unmasked: string[],
): string {
  const rows: [string, string[]][] = [
    ['input', input],
    ['output', output],
    ...Object.entries(tools).flatMap(([name, { arguments: given, result }]): [string, string[]][] => [
      [`${name}, arguments`, given],
      [`${name}, result`, result],
    ]),
    ['declarations of MCP tools', declarations],
    ['approvals', approvals],
    ['signals', signals],
  ]
  const lines = rows.flatMap(([title, names]) =>
    names.length === 0 ? [] : [`  ${toSingleLine(title)}: ${names.map(toSingleLine).join(', ')}`],
  )
  return [
    ...additions.map(
      ({ slug, folder, added }) => `${count(added.length)} of ${slug} for ${join(folder, CASES_FILE)}.`,
    ),
    'These fields leave the service with their values:',
    ...lines,
    '  and the texts of models, and notes of the feedback as names.',
    'Known secrets and common formats of credentials are masked; personal data is not.',
    ...(unmasked.length > 0
      ? [`Not masked, because they cannot be read here: the secrets ${unmasked.join(', ')}.`]
      : []),
  ].join('\n')
}

const count = (number: number): string =>
  number === 1 ? '1 corrected execution' : `${number} corrected executions`

const toJson = ({ slug, folder, added }: Addition) => ({
  slug,
  folder,
  cases: added.map(({ executionId, testCase, recording, reason }) => ({
    executionId,
    ...testCase,
    isRecorded: recording !== null,
    ...(reason !== undefined && { reason }),
  })),
})

function toText({ folder, added }: Addition): string {
  const missing = added.flatMap(({ testCase, reason }) =>
    reason === undefined ? [] : [`  "${toSingleLine(testCase.name)}" has no recording: ${reason}.`],
  )
  const cases = added.length === 1 ? '1 case' : `${added.length} cases`
  const test = formatCommand({}, `test ${shellQuote(folder)} --replay`)
  return [
    `Added ${cases} to ${join(folder, CASES_FILE)}.`,
    ...missing,
    '',
    `Run them offline:  ${test}`,
  ].join('\n')
}
