import type { Command } from 'commander'
import { describeProblem, type LoadedAgent, loadFolder } from '../../lib/agents/load-folder.ts'
import { publishAgent } from '../../lib/agents/publish-agent.ts'
import type { Version } from '../../lib/core/agent.ts'
import { system } from '../../lib/system.ts'
import { operatorId } from '../../local/development.ts'
import { chooseOrganization } from '../choose-organization.ts'
import { commandLine, examples, quoted } from '../command-line.ts'
import { orgOption } from '../options.ts'
import { answering, type Shared } from '../output.ts'
import { withProgress } from '../progress.ts'
import { withStore } from '../store.ts'
import { UserError } from '../user-error.ts'

type Options = { draft?: true }

export function addPublish(program: Command): void {
  program
    .command('publish')
    .description('Checks an agent and makes it a new version, the one that runs from then on.')
    .argument('<folder>', 'the folder that holds its agent.md')
    .option('--draft', 'make a draft, which runs only when its version is named')
    .addOption(orgOption())
    .addHelpText('after', examples('publish agents/redact-pii', 'publish agents/redact-pii --draft'))
    .action(
      answering<Options>(async (options, [folder = '']) => {
        const agent = await load(folder)
        const version = await withStore(options, async (store) => {
          const organization = await chooseOrganization(store, options)
          const publishing = publishAgent({
            store: store.agents,
            system,
            organizationId: organization.id,
            createdBy: operatorId(),
            agent,
            draft: options.draft ?? false,
          })
          return withProgress(`publishing ${agent.document.slug}`, publishing)
        })
        const { agentId, id: versionId, slug, status } = version
        return { json: { agentId, versionId, slug, status }, text: words(version, options, folder) }
      }),
    )
}

/** @throws UserError with a line for each thing that is wrong */
async function load(folder: string): Promise<LoadedAgent> {
  const { agent, problems } = await withProgress(`bundling ${folder}`, loadFolder(folder))
  if (agent) return agent
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`
  throw new UserError(`Nothing was published: ${count}.`, {
    details: { problems },
    lines: problems.map(describeProblem),
  })
}

function words({ slug, id, agentId, status }: Version, options: Shared, folder: string): string {
  const ids = [`  version  ${id}`, `  agent    ${agentId}`, '']
  if (status === 'DRAFT') {
    const run = commandLine(options, `run ${slug} --version ${id} --input input.json`)
    const publish = commandLine(options, `publish ${quoted(folder)}`)
    return [`Made a draft of ${slug}.`, ...ids, `Try it:      ${run}`, `Publish it:  ${publish}`].join('\n')
  }
  const run = commandLine(options, `run ${slug} --input input.json`)
  return [
    `Published ${slug}.`,
    ...ids,
    `Run it:     ${run}`,
    `Over HTTP:  POST /v1/agents/${slug}/executions`,
  ].join('\n')
}
