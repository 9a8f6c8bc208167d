import {
  type ComparedLine,
  compareVersions,
  type ValueChange,
  type VersionComparison,
} from '../../lib/contract/compare-versions.ts'
import { toVersionDetails } from '../../lib/contract/records/agent.ts'
import type { Agent, Version } from '../../lib/core/agent.ts'
import { VersionNotFound } from '../../lib/core/errors.ts'
import type { Stores } from '../../lib/dynamodb/open-stores.ts'
import type { CliCommand } from '../command.ts'
import { UserError } from '../errors.ts'
import { explainError } from '../find.ts'
import { formatCommand, relativeTime } from '../format.ts'
import { parseUuid, type SharedOptions } from '../options.ts'

export function addDiffCommand(program: CliCommand): void {
  program
    .command('diff')
    .description(
      'Compare two versions of an agent. Without versions: the current one and the draft, or the one before it and the current one.',
    )
    .forAgent()
    .argument('[before]', 'ID of a version', parseUuid)
    .argument('[after]', 'ID of another version; default: the current one', parseUuid)
    .examples('diff redact-pii', 'diff redact-pii <version> <version>')
    .runWithAgent(async (agent, { stores, options, args: [before, after] }) => {
      const find = (id: string) => findVersion(stores, agent, id, options)
      const [a, b] = before
        ? [await find(before), after ? await find(after) : currentOf(agent, options)]
        : await findDefaults(stores, agent, options)
      const comparison = compareVersions(toVersionDetails(a, agent), toVersionDetails(b, agent))
      return {
        json: { before: a.id, after: b.id, ...comparison },
        text: describeComparison(agent, a, b, comparison),
      }
    })
}

/** Older versions that are searched for a published one. */
const PAGE_SIZE = 100

type Pair = [before: Version, after: Version]

async function findDefaults(stores: Stores, agent: Agent, options: SharedOptions): Promise<Pair> {
  const current = currentOf(agent, options)
  if (agent.draftVersionId) return [current, await findVersion(stores, agent, agent.draftVersionId, options)]
  const { organizationId, id: agentId } = agent
  const page = { limit: PAGE_SIZE, after: { order: current.id } }
  const { items } = await stores.agents.listVersions({ organizationId, agentId, ...page })
  const previous = items.find(({ status }) => status === 'PUBLISHED')
  if (previous) return [previous, current]
  throw new UserError(`Agent ${agent.slug} has no earlier published version. Specify two versions.`)
}

function currentOf({ current, slug }: Agent, options: SharedOptions): Version {
  if (current) return current
  const list = formatCommand(options, `versions ${slug}`)
  throw new UserError(`Agent ${slug} has no published version. Specify two versions. List them: ${list}`)
}

async function findVersion(
  { agents }: Stores,
  { organizationId, id: agentId, slug }: Agent,
  id: string,
  options: SharedOptions,
): Promise<Version> {
  const version = await agents.getVersion({ organizationId, agentId, id })
  if (!version) throw explainError(new VersionNotFound(), { slug, versionId: id, options })
  return version
}

/** Lines around a change that are shown. */
const CONTEXT_LINES = 3
const MAX_VALUE_CHARACTERS = 200

/** Text like that of a unified diff: `-` and `+` mark what only the first and only the second version has. */
export function describeComparison(
  { slug }: Agent,
  before: Version,
  after: Version,
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

const describeVersion = ({ id, status, createdAt, message }: Version): string =>
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
