import type { ComponentType } from 'preact'
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

/** A page whose script is loaded when it is opened. Its styles are in `main.css`. @param name of its component */
export function lazyPage<Module, Name extends keyof Module>(
  title: string,
  load: (props: PropsOf<Module[Name]>) => Promise<Module>,
  name: Name,
) {
  return (props: PropsOf<Module[Name]>) => {
    const { data, error, reload } = useResource(title, () => loadScript(() => load(props)))
    const Loaded = data?.[name] as ComponentType<object> | undefined
    if (Loaded) return <Loaded {...props} />
    if (!error) return <Spinner label="Loading the page…" />
    return (
      <Page title={title}>
        <ErrorBox error={error} onRetry={reload} />
      </Page>
    )
  }
}

/** A part of a page whose script is loaded when it appears. @param label while it is loaded */
export function lazyPart<Props extends object>(label: string, load: () => Promise<ComponentType<Props>>) {
  return (props: Props) => {
    const { data: Part, error, reload } = useResource(label, () => loadScript(load))
    if (Part) return <Part {...props} />
    return error ? <ErrorBox error={error} onRetry={reload} /> : <Spinner label={label} />
  }
}
