import type { Command } from 'commander'
import { toAgentRecord } from '../../lib/api/mappers/to-agent-record.ts'
import type { Agent } from '../../lib/core/agent.ts'
import type { JsonObject } from '../../lib/core/json.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { findAgent, withOrganization } from '../find.ts'
import { alignColumns, formatCommand, formatExamples, relativeTime, toCell, toSingleLine } from '../format.ts'
import { orgOption, type SharedOptions } from '../options.ts'
import { toAction } from '../output.ts'

export function addShowCommand(program: Command): void {
  program
    .command('show')
    .description('Show an agent with its versions, input fields and output fields.')
    .argument('<slug>', "the agent's slug or ID")
    .addOption(orgOption())
    .addHelpText('after', formatExamples('show redact-pii'))
    .action(
      toAction((options, [idOrSlug = '']) =>
        withOrganization(options, async (stores, organization) => {
          const agent = await findAgent({ stores, organization, idOrSlug, options })
          return { json: toAgentRecord(agent), text: describeAgent(agent, options) }
        }),
      ),
    )
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
    String(field.type ?? 'any'),
    (required as string[]).includes(name) ? 'required' : 'optional',
    String(field.description ?? ''),
  ])
  return [`${heading}${rows.length === 0 ? ': no fields' : ''}`, ...alignColumns(rows)]
}
