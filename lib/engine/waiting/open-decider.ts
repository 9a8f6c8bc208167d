import { hasScope } from '../../access/permissions.ts'
import type { Access } from '../../core/access.ts'
import type { ExecutionSummary } from '../../core/execution.ts'
import type { TokenStore } from '../../core/ports/access.ts'
import type { Approval } from './approvals.ts'

/** How many creators of a token are followed. One with more decides on nothing that says `notByCaller`. */
const MAX_CREATORS = 50

/** A token, its creator, the creator's creator, and so on. `person`: the last of them, if someone signed in. */
type Origin = { ids: string[]; person: string | null }

type Tokens = Pick<TokenStore, 'get'>

/**
 * Says whether a token may decide on an approval of an execution that it may see. With `notByCaller`, it may not if the
 * token that started the execution has created it, through other tokens too, or if one person is behind both.
 */
export function openDecider(tokens: Tokens, access: Pick<Access, 'scopes' | 'tokenId' | 'subject'>) {
  const origins = new Map<string, Promise<Origin | null>>()
  const originOf = (id: string) => {
    const origin = origins.get(id) ?? readOrigin(tokens, id)
    origins.set(id, origin)
    return origin
  }
  return async (
    { notByCaller }: Pick<Approval, 'notByCaller'>,
    { tokenId: caller }: Pick<ExecutionSummary, 'tokenId'>,
  ): Promise<boolean> => {
    if (!hasScope(access, 'approve')) return false
    if (!notByCaller || caller === null) return true
    const own = await originOf(access.tokenId)
    if (!own || own.ids.includes(caller)) return false
    const person = access.subject === undefined ? own.person : access.tokenId
    if (person === null) return true
    const others = await originOf(caller)
    return others !== null && !others.ids.includes(person)
  }
}

/** Null if it has too many creators. Tokens are kept when they are revoked: what is none is a person or an operator. */
async function readOrigin(tokens: Tokens, id: string): Promise<Origin | null> {
  const ids = [id]
  for (let current = id; ids.length <= MAX_CREATORS; ) {
    const token = await tokens.get({ id: current })
    if (!token) return { ids, person: null }
    current = token.createdBy
    ids.push(current)
    if (token.isOfPerson) return { ids, person: current }
  }
  return null
}
