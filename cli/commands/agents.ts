import type { Version } from '../../clients/typescript/src/index.ts'
import type { AgentRecord } from '../../lib/contract/records/agent.ts'
import { isJsonObject, type JsonObject } from '../../lib/core/json/json.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { readFileLimits } from '../../lib/schema/files/file-schema.ts'
import { agentCommand, type CliCommand } from '../command.ts'
import { alignColumns, formatCommand, relativeTime, textTable, toCell, toSingleLine } from '../format.ts'
import type { SharedOptions } from '../options.ts'
import { readAll } from '../take.ts'

export function addListCommand(program: CliCommand): void {
  program
    .command('list')
    .description('List the agents of an organization, newest first.')
    .option('--archived', 'also list archived agents')
    .examples('list', 'list --archived')
    .runConnected<{ archived?: true }>('read', 'list agents', async ({ client, organization, options }) => {
      const { archived } = options
      const agents = await readAll(client.agents({ archived, limit: 100 }))
      const header = ['SLUG', 'TITLE', 'CURRENT VERSION', 'DRAFT', 'UPDATED']
      const rows = agents.map(({ slug, title, currentVersionId, draftVersionId, updatedAt, archivedAt }) => [
        slug,
        title,
        currentVersionId ?? 'draft only',
        draftVersionId ?? '-',
        relativeTime(updatedAt),
        ...(archived ? [archivedAt === null ? '-' : relativeTime(archivedAt)] : []),
      ])
      const publish = `Publish one: ${formatCommand(options, 'publish <folder>')}`
      const empty = `${organization?.name ?? 'The organization'} has no agents. ${publish}`
      return {
        json: agents,
        text: textTable([...header, ...(archived ? ['ARCHIVED'] : [])], rows, empty),
      }
    })
}

export function addShowCommand(program: CliCommand): void {
  agentCommand(program, 'show')
    .description('Show an agent with its versions, input fields and output fields.')
    .examples('show redact-pii')
    .runWithAgent('read', 'show the agent', async (agent, { client, options }) => {
      const { id, currentVersionId } = agent
      if (options.json) return { json: agent, text: '' }
      const current = currentVersionId === null ? null : await client.version(id, currentVersionId)
      return { json: agent, text: describeAgent(agent, current, options) }
    })
}

function describeAgent(agent: AgentRecord, current: Version | null, options: SharedOptions): string {
  const { slug, title, description, id, draftVersionId, archivedAt } = agent
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
    ...describeFields('Input', agent.inputSchema as JsonObject),
    '',
    ...describeFields('Output', agent.outputSchema as JsonObject),
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

export function addArchiveCommand(program: CliCommand): void {
  agentCommand(program, 'archive')
    .description(
      'Archive an agent: it accepts no new runs, and lists leave it out. Its runs in progress finish.',
    )
    .examples('archive redact-pii')
    .runWithAgent('manage and read', 'archive the agent', async ({ id, slug }, { client, options }) => ({
      json: await client.archive(id),
      text: `Archived ${slug}. Restore it: ${formatCommand(options, `restore ${slug}`)}`,
    }))
}

export function addRestoreCommand(program: CliCommand): void {
  agentCommand(program, 'restore')
    .description('Restore an archived agent.')
    .examples('restore redact-pii')
    .runWithAgent('manage and read', 'restore the agent', async ({ id, slug }, { client }) => ({
      json: await client.restore(id),
      text: `Restored ${slug}.`,
    }))
}
