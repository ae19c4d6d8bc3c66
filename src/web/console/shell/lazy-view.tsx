import { type ComponentType, type LazyExoticComponent, lazy } from 'react';
import { Empty } from '../parts/view.tsx';

/**
 * Returns a view that is loaded when it is opened. If its file cannot be loaded, for example because the command line that
 * serves this page has ended, the view says so, and the rest of the page stays.
 */
export function lazyView<P>(load: () => Promise<ComponentType<P>>): LazyExoticComponent<ComponentType<P>> {
  return lazy(async () => ({ default: await load().catch(() => NotLoaded) }));
}

function NotLoaded() {
  return (
    <Empty title="This view could not be loaded">
      <p>Reload the page to try again.</p>
    </Empty>
  );
}
