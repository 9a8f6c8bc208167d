import { Command } from 'commander'
import type { Client } from '../clients/typescript/src/index.ts'
import type { AgentRecord } from '../lib/contract/records/agent.ts'
import { LOOPBACK_ORGANIZATION } from '../lib/environment.ts'
import { DEVELOPMENT_ORGANIZATION } from '../local/development.ts'
import { type Connection, withConnection } from './connect.ts'
import { explainFor, findAgent } from './explain-errors.ts'
import { formatCommand } from './format.ts'
import { orgOption, type SharedOptions, tokenOption, urlOption } from './options.ts'
import { withService } from './service.ts'
import { ResultFailed, toJsonText, write } from './terminal.ts'

/**
 * Result of a command: `json` is printed with `--json`, `text` without it, unless it is empty. `note` always goes to
 * stderr. `hasFailed`: the exit code is 1.
 */
export type Result = { json: unknown; text: string; note?: string; hasFailed?: boolean }

/** A connection, with the options and the arguments of the command. */
type Context<Options> = Connection & { options: Options & SharedOptions; args: string[] }

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

  /** Adds the options of commands that work with a service. */
  overHttp(scope: string): this {
    return this.addOption(urlOption()).addOption(tokenOption(scope))
  }

  run<Options = object>(work: (options: Options & SharedOptions, args: string[]) => Promise<Result>): this {
    return this.action(async () => {
      const options = this.optsWithGlobals<Options & SharedOptions>()
      // Remote agents of this machine, as with `npm start`.
      if (!options.stack) process.env[LOOPBACK_ORGANIZATION] ??= DEVELOPMENT_ORGANIZATION.id
      const { json, text, note, hasFailed } = await work(options, this.processedArgs as string[])
      if (note) await write(process.stderr, `${note}\n`)
      await write(process.stdout, options.json ? toJsonText(json) : text && `${text}\n`)
      if (hasFailed) throw new ResultFailed()
    })
  }

  /**
   * Runs with the service of `--url`, or with the one on the data folder: it continues what the command starts.
   * @param scope that the token needs
   * @param action for errors: `list approvals`
   */
  runWithService<Options = object>(
    scope: string,
    action: string,
    work: (client: Client, options: Options & SharedOptions, args: string[]) => Promise<Result>,
  ): this {
    return this.overHttp(scope).run<Options>((options, args) =>
      withService(options, action, (client) => work(client, options, args)),
    )
  }

  /** Runs with the service of `--url`, or on a table with the organization of `--org`. */
  runConnected<Options = object>(
    scope: string,
    action: string,
    work: (context: Context<Options>) => Promise<Result>,
  ): this {
    return this.overHttp(scope)
      .addOption(orgOption())
      .run<Options>((options, args) =>
        withConnection(options, action, (connection) => work({ ...connection, options, args })),
      )
  }

  /** Like `runConnected`, with the agent of the first argument. `versionId`: the second one, for errors about it. */
  runWithAgent<Options = object>(
    scope: string,
    action: string,
    work: (agent: AgentRecord, context: Context<Options> & { versionId: string }) => Promise<Result>,
  ): this {
    return this.runConnected<Options>(scope, action, async (context) => {
      const [idOrSlug = '', versionId = ''] = context.args
      const agent = await findAgent(context, idOrSlug)
      const subject = { slug: agent.slug, versionId, options: context.options }
      return work(agent, { ...context, versionId }).catch(explainFor(subject))
    })
  }
}

/** The argument of commands about an agent. */
export const agentCommand = (parent: CliCommand, name: string): CliCommand =>
  parent.command(name).argument('<slug>', "the agent's slug or ID")
