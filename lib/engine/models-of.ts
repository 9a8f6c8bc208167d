import type { Version } from '../core/agent.ts'
import { DEFAULT_MODEL, type Environment } from '../environment.ts'

/** The models that a run may use, in order: that of the call, then those of the document. */
export function modelsOf(
  { model, fallbacks = [] }: Pick<Version, 'model' | 'fallbacks'>,
  override: string | null | undefined,
  environment: Environment,
): string[] {
  const own = [model ?? (override ? undefined : environment[DEFAULT_MODEL]), ...fallbacks]
  return [...new Set([override, ...own].filter((name) => !!name))] as string[]
}
