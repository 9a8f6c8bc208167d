import type { Organization } from '../lib/core/agent.ts'
import { DEVELOPMENT_ORGANIZATION } from '../local/development.ts'
import { commandLine } from './command-line.ts'
import type { Shared } from './output.ts'
import { readAll } from './read-all.ts'
import type { Store } from './store.ts'
import { UserError } from './user-error.ts'

/**
 * The organization that a command is about: `--org`, else the development one, else the only one of the stack.
 * @throws UserError that says which there are, or how to make one
 */
export async function chooseOrganization(
  { organizations }: Store,
  { org, stack }: Shared,
): Promise<Organization> {
  const id = org ?? (stack ? undefined : DEVELOPMENT_ORGANIZATION.id)
  if (id) {
    const organization = await organizations.get({ id })
    if (organization) return organization
    throw new UserError(
      `There is no organization ${id}. See which there are: ${commandLine({ stack }, 'orgs list')}. ` +
        `Make one: ${commandLine({ stack }, 'orgs create --name <text>')}`,
      { details: { code: 'OrganizationNotFound' } },
    )
  }
  const all = await readAll((page) => organizations.list(page))
  const [only] = all
  if (only && all.length === 1) return only
  if (!only) {
    throw new UserError(
      `The stack has no organization yet. Make one: ${commandLine({ stack }, 'orgs create --name <text>')}`,
    )
  }
  throw new UserError('The stack has several organizations: choose one with --org.', {
    details: { organizations: all.map(({ id, name }) => ({ id, name })) },
    lines: all.map(({ id, name }) => `${id}  ${name}`),
  })
}
