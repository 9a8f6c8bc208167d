import { readPages } from '../../lib/core/read-pages.ts'
import { system } from '../../lib/system.ts'
import type { CliCommand } from '../command.ts'
import { formatCommand, relativeTime, textTable } from '../format.ts'
import { parseName } from '../options.ts'
import { withTable } from '../table/open-table.ts'
import { readAll } from '../take.ts'

export function addOrgsCommand(program: CliCommand): void {
  const orgs = program.command('orgs').description('Manage organizations, which own agents and API tokens.')
  addCreateCommand(orgs)
  addListCommand(orgs)
}

function addCreateCommand(orgs: CliCommand): void {
  const create = orgs.command('create')
  create
    .description('Create an organization.')
    .argument('[name]', 'name of the organization, instead of --name', parseName)
    .option('--name <text>', 'name of the organization', parseName)
    .examples('orgs create --name "Example Ltd"')
    .run<{ name?: string }>(async (options, [argument]) => {
      if (argument && options.name) create.error('error: name specified both as argument and with --name')
      const name =
        options.name ?? argument ?? create.error("error: required option '--name <text>' not specified")
      const id = system.newId()
      const createdAt = new Date(system.now()).toISOString()
      const change = {
        ...{ organizationId: id, action: 'organization.create' as const, changes: { name } },
        target: { kind: 'organization' as const, id },
      }
      await withTable(options, ({ stores, record }) =>
        record(change, () => stores.organizations.create({ organization: { id, name, createdAt } })),
      )
      const createToken = formatCommand({ ...options, org: id }, 'tokens create --name <text>')
      return {
        json: { id, name },
        text: `Created organization ${name}.\n  ID  ${id}\n\nCreate a token: ${createToken}`,
      }
    })
}

function addListCommand(orgs: CliCommand): void {
  orgs
    .command('list')
    .description('List the organizations.')
    .examples('orgs list')
    .run(async (options) => {
      const organizations = await withTable(options, ({ stores }) =>
        readAll(readPages((page) => stores.organizations.list(page))),
      )
      const rows = organizations.map(({ id, name, createdAt }) => [id, name, relativeTime(createdAt)])
      const empty = `No organizations. Create one: ${formatCommand(options, 'orgs create --name <text>')}`
      return { json: organizations, text: textTable(['ORGANIZATION', 'NAME', 'CREATED'], rows, empty) }
    })
}
