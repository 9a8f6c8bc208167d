import { createContext } from 'preact'
import { useContext } from 'preact/hooks'
import type { MeRecord } from '../../lib/api/schemas/records.ts'

/** The organization and the limits of the token; null until they are known. */
export const MeContext = createContext<MeRecord | null>(null)

export const useMe = (): MeRecord | null => useContext(MeContext)

/** Whether the token has a scope. True until it is known: the service decides in any case. */
export function useScope(scope: MeRecord['scopes'][number]): boolean {
  const me = useMe()
  return me === null || me.scopes.includes(scope)
}
