import type { Command } from 'commander'
import { system } from '../../lib/system.ts'
import { commandLine, examples } from '../command-line.ts'
import { toName } from '../options.ts'
import { answering } from '../output.ts'
import { readAll } from '../read-all.ts'
import { relativeTime } from '../relative-time.ts'
import { withStore } from '../store.ts'
import { textTable } from '../text-table.ts'

export function addOrgs(program: Command): void {
  const orgs = program.command('orgs').description('Manages organizations, which own agents and tokens.')
  addCreateOrg(orgs)
  addListOrgs(orgs)
}

function addCreateOrg(orgs: Command): void {
  const create = orgs
    .command('create')
    .description('Makes an organization.')
    .argument('[name]', 'its name, if not given with --name', toName)
    .option('--name <text>', 'its name', toName)
    .addHelpText('after', examples('orgs create --name "Example Ltd"'))
  create.action(
    answering<{ name?: string }>(async (options) => {
      const [argument] = create.processedArgs as [string | undefined]
      if (argument && options.name) create.error('error: the name is given twice')
      const name = options.name ?? argument ?? create.error("error: option '--name <text>' is missing")
      const id = system.newId()
      const createdAt = new Date(system.now()).toISOString()
      await withStore(options, (store) =>
        store.organizations.create({ organization: { id, name, createdAt } }),
      )
      const token = commandLine({ ...options, org: id }, 'tokens create --name <text>')
      return {
        json: { id, name },
        text: `Made the organization ${name}.\n  id  ${id}\n\nGive it a token: ${token}`,
      }
    }),
  )
}

function addListOrgs(orgs: Command): void {
  orgs
    .command('list')
    .description('Lists the organizations.')
    .addHelpText('after', examples('orgs list'))
    .action(
      answering(async (options) => {
        const all = await withStore(options, (store) => readAll((page) => store.organizations.list(page)))
        const rows = all.map(({ id, name, createdAt }) => [id, name, relativeTime(createdAt)])
        const none = `There are no organizations yet. Make one: ${commandLine(options, 'orgs create --name <text>')}`
        const text = textTable(['ORGANIZATION', 'NAME', 'CREATED'], rows)
        return { json: all, text: all.length > 0 ? text : none }
      }),
    )
}
