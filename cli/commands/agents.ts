import { archiveAgent } from '../../lib/agents/lifecycle/change-agent.ts'
import { toAgentRecord } from '../../lib/contract/records/agent.ts'
import type { Agent } from '../../lib/core/agent.ts'
import { isJsonObject, type JsonObject } from '../../lib/core/json/json.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { readFileLimits } from '../../lib/schema/files/file-schema.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { readAllPages } from '../find.ts'
import { alignColumns, formatCommand, relativeTime, textTable, toCell, toSingleLine } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { recorded } from '../recorded.ts'

export function addListCommand(program: CliCommand): void {
  program
    .command('list')
    .description('List the agents of an organization, newest first.')
    .option('--archived', 'also list archived agents')
    .examples('list', 'list --archived')
    .runInOrganization<{ archived?: true }>(async (stores, { id: organizationId, name }, options) => {
      const { archived = false } = options
      const agents = await readAllPages((page) => stores.agents.list({ organizationId, archived, ...page }))
      const columns = [
        'SLUG',
        'TITLE',
        'CURRENT VERSION',
        'DRAFT',
        'UPDATED',
        ...(archived ? ['ARCHIVED'] : []),
      ]
      const rows = agents.map(({ slug, title, current, draftVersionId, updatedAt, archivedAt }) => [
        slug,
        title,
        current?.id ?? 'draft only',
        draftVersionId ?? '-',
        relativeTime(updatedAt),
        ...(archived ? [archivedAt === null ? '-' : relativeTime(archivedAt)] : []),
      ])
      const empty = `${name} has no agents. Publish one: ${formatCommand(options, 'publish <folder>')}`
      return { json: agents.map(toAgentRecord), text: textTable(columns, rows, empty) }
    })
}

export function addShowCommand(program: CliCommand): void {
  program
    .command('show')
    .description('Show an agent with its versions, input fields and output fields.')
    .forAgent()
    .examples('show redact-pii')
    .runWithAgent(async (agent, { options }) => ({
      json: toAgentRecord(agent),
      text: describeAgent(agent, options),
    }))
}

function describeAgent(agent: Agent, options: SharedOptions): string {
  const { slug, title, description, id, current, draftVersionId, archivedAt } = agent
  const currentVersion = current
    ? `${current.id}, published ${relativeTime(current.createdAt)}`
    : 'none (draft only)'
  const versionOption = draftVersionId && !current ? ` --version ${draftVersionId}` : ''
  return [
    `${slug}: ${toCell(title)}`,
    ...(description ? [toSingleLine(description)] : []),
    '',
    ...alignColumns([
      ['agent', id],
      ['current version', currentVersion],
      ['draft', draftVersionId ?? '-'],
      ...(archivedAt === null ? [] : [['archived', relativeTime(archivedAt)]]),
    ]),
    '',
    ...describeFields('Input', agent.inputSchema),
    '',
    ...describeFields('Output', agent.outputSchema),
    '',
    `Run it: ${formatCommand(options, `run ${slug} --input input.json${versionOption}`)}`,
  ].join('\n')
}

function describeFields(heading: string, declared: JsonObject): string[] {
  const { properties = {}, required = [] } = toJsonSchema(declared)
  const rows = Object.entries(properties as Record<string, JsonObject>).map(([name, field]) => [
    `- ${name}`,
    typeName(field),
    (required as string[]).includes(name) ? 'required' : 'optional',
    String(field.description ?? ''),
  ])
  return [`${heading}${rows.length === 0 ? ': no fields' : ''}`, ...alignColumns(rows)]
}

/** Such as `string`, `array` and `file (image/png, image/jpeg)`. */
function typeName(field: JsonObject): string {
  const file = readFileLimits(field)
  if (file) return `file (${file.mediaTypes.join(', ')})`
  const { items } = field
  return isJsonObject(items) && readFileLimits(items)
    ? `array of ${typeName(items)}`
    : String(field.type ?? 'any')
}

/** The commands `archive` and `restore`. */
export function addArchiveCommands(program: CliCommand): void {
  const add = (name: string, description: string, isArchiving: boolean) =>
    program
      .command(name)
      .description(description)
      .forAgent()
      .examples(`${name} redact-pii`)
      .runWithAgent(async ({ id, slug }, { reference, stores, options }) => {
        const archivedAt = isArchiving ? new Date(system.now()).toISOString() : null
        const { organizationId } = reference
        const action = isArchiving ? 'agent.archive' : 'agent.restore'
        const change = { organizationId, action, target: { kind: 'agent', id } } as const
        const agent = await recorded(stores, options, change, () => archiveAgent(reference, archivedAt))
        const text = isArchiving
          ? `Archived ${slug}. Restore it: ${formatCommand(options, `restore ${slug}`)}`
          : `Restored ${slug}.`
        return { json: toAgentRecord(agent), text }
      })
  add(
    'archive',
    'Archive an agent: it accepts no new runs, and lists leave it out. Its runs in progress finish.',
    true,
  )
  add('restore', 'Restore an archived agent.', false)
}
