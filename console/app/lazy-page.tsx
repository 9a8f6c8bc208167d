import type { ComponentType, VNode } from 'preact'
import { ApiError } from '../api/api-error.ts'
import { send } from '../api/request.ts'
import { useResource } from '../api/use-resource.ts'
import { ErrorBox, Page, Spinner } from '../components/page.tsx'

/** Loads a script of its own. @throws ApiError that says why it cannot */
export const loadScript = <Module,>(load: () => Promise<Module>): Promise<Module> =>
  load().catch(async () => {
    // Throws if the service does not respond. If it does, it no longer has the script.
    await send('/v1/healthcheck')
    throw new ApiError('The service has been updated.', { status: 404, code: 'RouteNotFound' })
  })

type PropsOf<Component> = Component extends (props: infer Props extends object) => unknown ? Props : never

/** A part of a page whose script is loaded when it appears. Its styles are in `main.css`. */
export function lazyPart<Module, Name extends keyof Module>(
  what: string,
  load: (props: PropsOf<Module[Name]>) => Promise<Module>,
  name: Name,
  /** What failed, for people. */
  Failure: (props: { error: ApiError; onRetry: () => void }) => VNode = ErrorBox,
) {
  return (props: PropsOf<Module[Name]>) => {
    const { data, error, reload } = useResource(what, () => loadScript(() => load(props)))
    const Loaded = data?.[name] as ComponentType<object> | undefined
    if (Loaded) return <Loaded {...props} />
    return error ? <Failure error={error} onRetry={reload} /> : <Spinner label={`Loading ${what}…`} />
  }
}

/** A page whose script is loaded when it is opened. @param name of its component: `RunPage` */
export const lazyPage = <Module, Name extends keyof Module & string>(
  load: (props: PropsOf<Module[Name]>) => Promise<Module>,
  name: Name,
) =>
  lazyPart('the page', load, name, (failure) => (
    <Page
      title={name.replace(/Page$/, '').replace(/(?<=[a-z])[A-Z]/g, (letter) => ` ${letter.toLowerCase()}`)}
    >
      <ErrorBox {...failure} />
    </Page>
  ))
