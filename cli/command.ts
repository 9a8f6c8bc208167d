import { Command } from 'commander'
import type { AgentReference } from '../lib/agents/resolve-agent.ts'
import type { Agent, Organization } from '../lib/core/agent.ts'
import { findAgent, withOrganization } from './find.ts'
import { formatCommand } from './format.ts'
import { orgOption, type SharedOptions } from './options.ts'
import type { TableStores } from './stores.ts'
import { ResultFailed, toJsonText, write } from './terminal.ts'

/**
 * Result of a command: `json` is printed with `--json`, `text` without it, unless it is empty. `note` always goes to
 * stderr. `hasFailed`: the exit code is 1.
 */
export type Result = { json: unknown; text: string; note?: string; hasFailed?: boolean }

/** What a command that works on an agent is given. `reference` is for `lib/agents`. `args`: those after the agent. */
type AgentContext<Options> = {
  reference: AgentReference
  stores: TableStores
  options: Options & SharedOptions
  args: string[]
}

/** A command that prints its result. */
export class CliCommand extends Command {
  /** Fails and suggests a subcommand. Commander calls it unless a subcommand is the default. */
  declare readonly unknownCommand: () => never

  override createCommand(name?: string): CliCommand {
    return new CliCommand(name)
  }

  /** Adds examples to the help text. */
  examples(...commands: string[]): this {
    const lines = commands.map((command) => `  ${formatCommand({}, command)}`)
    return this.addHelpText('after', ['', lines.length > 1 ? 'Examples:' : 'Example:', ...lines].join('\n'))
  }

  run<Options = object>(work: (options: Options & SharedOptions, args: string[]) => Promise<Result>): this {
    return this.action(async () => {
      const options = this.optsWithGlobals<Options & SharedOptions>()
      const { json, text, note, hasFailed } = await work(options, this.processedArgs as string[])
      if (note) await write(process.stderr, `${note}\n`)
      await write(process.stdout, options.json ? toJsonText(json) : text && `${text}\n`)
      if (hasFailed) throw new ResultFailed()
    })
  }

  /** Runs with the stores and the organization of `--org`. */
  runInOrganization<Options = object>(
    work: (
      stores: TableStores,
      organization: Organization,
      options: Options & SharedOptions,
    ) => Promise<Result>,
  ): this {
    return this.addOption(orgOption()).run<Options>((options) =>
      withOrganization(options, (stores, organization) => work(stores, organization, options)),
    )
  }

  /** Adds the first argument of commands that run with an agent. */
  forAgent(): this {
    return this.argument('<slug>', "the agent's slug or ID").addOption(orgOption())
  }

  runWithAgent<Options = object>(
    work: (agent: Agent, context: AgentContext<Options>) => Promise<Result>,
  ): this {
    return this.run<Options>((options, [idOrSlug = '', ...args]) =>
      withOrganization(options, async (stores, organization) => {
        const agent = await findAgent({ stores, organization, idOrSlug, options })
        const reference = { store: stores.agents, organizationId: organization.id, idOrSlug: agent.id }
        return work(agent, { reference, stores, options, args })
      }),
    )
  }
}
