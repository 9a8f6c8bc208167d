import type { Command } from 'commander'
import { toAgentRecord } from '../../lib/api/mappers/to-agent-record.ts'
import type { Agent } from '../../lib/core/agent.ts'
import type { JsonObject } from '../../lib/core/json.ts'
import { toJsonSchema } from '../../lib/schema/field-map.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples } from '../command-line.ts'
import { findAgent } from '../find-agent.ts'
import { orgOption } from '../options.ts'
import { answering, type Shared } from '../output.ts'
import { relativeTime } from '../relative-time.ts'
import { withStore } from '../store.ts'
import { alignedLines, plain } from '../text-table.ts'

export function addShow(program: Command): void {
  program
    .command('show')
    .description('Shows an agent: its versions, its input and its output.')
    .argument('<slug>', "the agent's slug or id")
    .addOption(orgOption())
    .addHelpText('after', examples('show redact-pii'))
    .action(
      answering(async (options, [idOrSlug = '']) => {
        const agent = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          return findAgent({ store, organization, idOrSlug, options })
        })
        return { json: toAgentRecord(agent), text: words(agent, options) }
      }),
    )
}

function words(agent: Agent, options: Shared): string {
  const { slug, title, description, id, current, draftVersionId } = agent
  const version = draftVersionId && !current ? ` --version ${draftVersionId}` : ''
  return [
    `${slug}: ${plain(title)}`,
    ...(description ? [description.replaceAll(/[\p{Cc}\s]+/gu, ' ').trim()] : []),
    '',
    ...alignedLines([
      ['agent', id],
      [
        'current version',
        current ? `${current.id}, published ${relativeTime(current.createdAt)}` : 'none yet, only a draft',
      ],
      ['draft', draftVersionId ?? '-'],
    ]),
    '',
    ...fields('Input', agent.inputSchema),
    '',
    ...fields('Output', agent.outputSchema),
    '',
    `Run it: ${commandLine(options, `run ${slug} --input input.json${version}`)}`,
  ].join('\n')
}

function fields(heading: string, declared: JsonObject): string[] {
  const { properties = {}, required = [] } = toJsonSchema(declared)
  const rows = Object.entries(properties as Record<string, JsonObject>).map(([name, field]) => [
    `- ${name}`,
    String(field.type ?? 'any'),
    (required as string[]).includes(name) ? 'required' : 'optional',
    String(field.description ?? ''),
  ])
  return [`${heading}${rows.length === 0 ? ': no fields' : ''}`, ...alignedLines(rows)]
}
