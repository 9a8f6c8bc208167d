import type { Command } from 'commander'
import type { LoadedAgent } from '../../lib/agents/load-folder.ts'
import { publishAgent } from '../../lib/agents/publish-agent.ts'
import type { Version } from '../../lib/core/agent.ts'
import { system } from '../../lib/system.ts'
import { checkFolder } from '../../local/authoring/check-folder.ts'
import { operatorId } from '../../local/development.ts'
import { withOrganization } from '../find.ts'
import { folderError } from '../folder-problems.ts'
import { formatCommand, formatExamples, shellQuote } from '../format.ts'
import { orgOption, type SharedOptions } from '../options.ts'
import { toAction, withProgress } from '../output.ts'

type Options = { draft?: true; types: boolean }

export function addPublishCommand(program: Command): void {
  program
    .command('publish')
    .description('Validate an agent and publish it as its current version.')
    .argument('<folder>', 'folder that contains agent.md')
    .option('--draft', 'create a draft, which runs only when a request names its version ID')
    .option('--no-types', 'do not check the types of the code')
    .addOption(orgOption())
    .addHelpText('after', formatExamples('publish agents/redact-pii', 'publish agents/redact-pii --draft'))
    .action(
      toAction<Options>(async (options, [folder = '']) => {
        const agent = await loadAgent(folder, options)
        const version = await withOrganization(options, (stores, organization) => {
          const publishing = publishAgent({
            store: stores.agents,
            system,
            organizationId: organization.id,
            createdBy: operatorId(),
            agent,
            draft: options.draft ?? false,
          })
          return withProgress(`Publishing ${agent.document.slug}`, publishing)
        })
        const { agentId, id: versionId, slug, status } = version
        return { json: { agentId, versionId, slug, status }, text: describeVersion(version, options, folder) }
      }),
    )
}

/** @throws UserError with one line per problem */
async function loadAgent(folder: string, { types }: Options): Promise<LoadedAgent> {
  const { agent, problems } = await withProgress(`Checking ${folder}`, checkFolder(folder, { types }))
  if (!agent) throw folderError('Publish', problems)
  return agent
}

function describeVersion(version: Version, options: SharedOptions, folder: string): string {
  const { slug, id, agentId, status } = version
  const ids = [`  version  ${id}`, `  agent    ${agentId}`, '']
  if (status === 'DRAFT') {
    const run = formatCommand(options, `run ${slug} --version ${id} --input input.json`)
    const publish = formatCommand(options, `publish ${shellQuote(folder)}`)
    return [`Created a draft of ${slug}.`, ...ids, `Run it:      ${run}`, `Publish it:  ${publish}`].join(
      '\n',
    )
  }
  const run = formatCommand(options, `run ${slug} --input input.json`)
  return [
    `Published ${slug}.`,
    ...ids,
    `Run it:     ${run}`,
    `Over HTTP:  POST /v1/agents/${slug}/executions`,
  ].join('\n')
}
