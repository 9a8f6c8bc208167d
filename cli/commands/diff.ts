import type { Client, VersionDetails } from '../../clients/typescript/src/index.ts'
import {
  type ComparedLine,
  compareVersions,
  type ValueChange,
  type VersionComparison,
} from '../../lib/contract/compare-versions.ts'
import type { AgentRecord, VersionDetails as Details } from '../../lib/contract/records/agent.ts'
import { agentCommand, type CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { explainFor } from '../explain-errors.ts'
import { formatCommand, relativeTime } from '../format.ts'
import { parseUuid, type SharedOptions } from '../options.ts'

export function addDiffCommand(program: CliCommand): void {
  agentCommand(program, 'diff')
    .description(
      'Compare two versions of an agent. Without versions: the current one and the draft, or the one before it and the current one.',
    )
    .argument('[before]', 'ID of a version', parseUuid)
    .argument('[after]', 'ID of another version; default: the current one', parseUuid)
    .examples('diff redact-pii', 'diff redact-pii <version> <version>')
    .runWithAgent(
      'read',
      'compare the versions',
      async (agent, { client, options, args: [, before, after] }) => {
        const { id, slug } = agent
        const ids = before
          ? [before, after || currentOf(agent, options)]
          : await findDefaults(client, agent, options)
        const read = (versionId: string) =>
          client.version(id, versionId).catch(explainFor({ slug, versionId, options }))
        const [a, b] = (await Promise.all(ids.map(read))) as [VersionDetails, VersionDetails]
        const comparison = compareVersions(a as Details, b as Details)
        return {
          json: { before: a.id, after: b.id, ...comparison },
          text: describeComparison(slug, a, b, comparison),
        }
      },
    )
}

/** The versions to compare if none is given: their IDs. */
async function findDefaults(client: Client, agent: AgentRecord, options: SharedOptions): Promise<string[]> {
  const current = currentOf(agent, options)
  if (agent.draftVersionId) return [current, agent.draftVersionId]
  // IDs begin with the time.
  for await (const { id, status } of client.versions(agent.id, { limit: 100 }))
    if (id < current && status === 'PUBLISHED') return [id, current]
  throw new UserError(`Agent ${agent.slug} has no earlier published version. Specify two versions.`)
}

function currentOf({ currentVersionId, slug }: AgentRecord, options: SharedOptions): string {
  if (currentVersionId) return currentVersionId
  const list = formatCommand(options, `versions ${slug}`)
  throw new UserError(`Agent ${slug} has no published version. Specify two versions. List them: ${list}`)
}

/** Lines around a change that are shown. */
const CONTEXT_LINES = 3
const MAX_VALUE_CHARACTERS = 200

/** Text like that of a unified diff: `-` and `+` mark what only the first and only the second version has. */
function describeComparison(
  slug: string,
  before: VersionDetails,
  after: VersionDetails,
  { changes, instructions }: VersionComparison,
): string {
  const sections = [
    ...changes.map(describeChange),
    ...(instructions.length > 0 ? [['/instructions', ...describeLines(instructions)]] : []),
  ]
  const body = sections.length === 0 ? [['The versions have the same content.']] : sections
  return [`${slug}:`, `- ${describeVersion(before)}`, `+ ${describeVersion(after)}`, '', ...body.flat()].join(
    '\n',
  )
}

const describeVersion = ({ id, status, createdAt, message }: VersionDetails): string =>
  `${id}, ${status.toLowerCase()}, created ${relativeTime(createdAt)}${message ? `: ${printable(message)}` : ''}`

function describeChange({ path, ...values }: ValueChange): string[] {
  const lines = [printable(path)]
  if ('before' in values) lines.push(`- ${toText(values.before)}`)
  if ('after' in values) lines.push(`+ ${toText(values.after)}`)
  return lines
}

function toText(value: unknown): string {
  const text = printable(JSON.stringify(value) ?? 'none')
  return text.length > MAX_VALUE_CHARACTERS ? `${text.slice(0, MAX_VALUE_CHARACTERS)}…` : text
}

/** Leaves out lines that are far from a change. */
function describeLines(lines: ComparedLine[]): string[] {
  const isShown = (index: number) => {
    const near = lines.slice(Math.max(index - CONTEXT_LINES, 0), index + CONTEXT_LINES + 1)
    return near.some(({ kind }) => kind !== 'same')
  }
  return lines.flatMap(({ kind, text }, index) => {
    if (!isShown(index)) return index === 0 || isShown(index - 1) ? ['  …'] : []
    return `${{ same: ' ', added: '+', removed: '-' }[kind]} ${printable(text)}`
  })
}

/** Without control characters, which a terminal could interpret as commands. */
const printable = (text: string): string => text.replaceAll(/[\p{Cc}\p{Cf}]+/gu, ' ')
