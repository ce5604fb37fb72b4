// SPDX-FileCopyrightText: 2026 The videoconvolve developers
// SPDX-License-Identifier: LGPL-2.1-or-later
#include "instance.hpp"

#include <memory>
#include <utility>

namespace convolve {
namespace {

// A recipe whose filter is not to be had: the last one that was good goes on.
std::shared_ptr<const Recipe> faulty(const Settings& settings, const char* why, const Stream& stream, bool controlled) {
  std::shared_ptr<const Recipe> good = stream.published();
  if (good->last_good) good = good->last_good;
  return std::make_shared<const Recipe>(Recipe{settings, {}, {}, why, std::move(good), controlled});
}

// Where controllers left the settings at fault when the element stopped: the recipe that went on then. They set their
// values anew with the first frame. Null where the fault is another's.
std::shared_ptr<const Recipe> good_before_controllers(const Settings& settings, bool has_controlled,
                                                      const Stream& stream) {
  const std::shared_ptr<const Recipe> left = stream.published();
  if (left && left->controlled && left->settings == settings) return left->last_good;
  return left && has_controlled ? left : nullptr;
}

}  // namespace

void set_property(GObject* object, guint id, const GValue* value, GParamSpec* spec) {
  guarded(object, false, [&] {
    Element& self = element_of(object);
    for (;;) {
      std::unique_lock lock(self.mutex);
      const Settings before = self.settings;
      const guint64 changes = self.changes;
      const bool open = self.open;
      lock.unlock();

      Settings draft = before;
      if (!set_setting(draft, id, value)) {
        G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
        return false;
      }
      // A path is read anew each time that it is set: the file may have changed.
      if (draft == before && id != prop_kernel_location) return true;
      std::shared_ptr<const Recipe> recipe;
      // Values that controllers set may be legal only together: settle_controlled() decides on all of them. A handler
      // of these changes may set what they cannot, such as a path.
      const bool controlled = (spec->flags & GST_PARAM_CONTROLLABLE) && Stream::controllers_are_setting(object);
      if (open && !controlled) {
        try {
          if (id == prop_kernel || id == prop_kernel_location || id == prop_bank || id == prop_kernel_string)
            load_kernel_file(draft);
          recipe = make_recipe(draft);
        } catch (const IncompleteSettings& error) {
          // The other half of the pair may be set before the next frame: only then is it a fault.
          recipe = faulty(draft, error.what(), self.stream, false);
        } catch (const std::invalid_argument& error) {
          warn_of_settings(GST_ELEMENT(object), std::string(error.what()) + "; the filter stays as it was");
          return false;
        }
      }
      // Another thread's change in the meantime is not to be lost.
      lock.lock();
      if (changes != self.changes || open != self.open) continue;
      std::swap(self.settings, draft);
      ++self.changes;
      self.has_controlled |= controlled;
      if (recipe) self.stream.publish_locked(recipe);
      lock.unlock();
      Element::Failure mended = Element::Failure::of_settings;
      self.failure.compare_exchange_strong(mended, Element::Failure::none);
      return true;
    }
  });
}

void settle_controlled(Element& self) {
  for (;;) {
    std::unique_lock lock(self.mutex);
    if (!self.has_controlled) return;
    const Settings settings = self.settings;
    const guint64 changes = self.changes;
    lock.unlock();
    std::shared_ptr<const Recipe> recipe;
    try {
      recipe = make_recipe(settings);
    } catch (const std::invalid_argument& error) {
      recipe = faulty(settings, error.what(), self.stream, true);
    }
    lock.lock();
    if (changes != self.changes) continue;
    self.has_controlled = false;
    self.stream.publish_locked(recipe);
    lock.unlock();  // the recipe before goes
    return;
  }
}

void get_property(GObject* object, guint id, GValue* value, GParamSpec* spec) {
  Element& self = element_of(object);
  const ActiveNames active{self.stream.active_backend(), self.stream.active_algorithm()};
  std::unique_lock lock(self.mutex);
  const bool known = get_setting(self.settings, active, id, value);
  lock.unlock();
  if (!known) G_OBJECT_WARN_INVALID_PROPERTY_ID(object, id, spec);
}

void open_backend(GstElement* element) {
  Element& self = element_of(element);
  std::unique_lock lock(self.mutex);
  Settings settings = self.settings;
  lock.unlock();
  self.stream.process().close();
  if (settings.backend != BackendChoice::cpu) {
    try {
      self.stream.process().open(self.gpu->open(element, settings.cuda_device_id));
      self.device_lost = false;
    } catch (const std::runtime_error& error) {
      self.gpu->clear();
      const std::string why = std::string("the CUDA backend cannot run: ") + error.what();
      if (settings.backend == BackendChoice::cuda) throw ElementError(GST_RESOURCE_ERROR_NOT_FOUND, why);
      if (built_with_cuda)
        report(element, GST_MESSAGE_WARNING, GST_RESOURCE_ERROR, GST_RESOURCE_ERROR_NOT_FOUND,
               why + "; the filter runs on the CPU");
    }
  }
  if (!self.stream.process().is_open()) self.stream.process().open(make_host_memory(settings.n_threads));
  self.opened_with = std::move(settings);
  self.stream.announce();
}

void open(GstElement* element) {
  Element& self = element_of(element);
  self.failure = Element::Failure::none;
  for (bool current = false; !current;) {
    std::unique_lock lock(self.mutex);
    Settings settings = self.settings;
    const guint64 changes = self.changes;
    bool has_controlled = self.has_controlled;
    lock.unlock();
    load_kernel_file(settings);
    std::shared_ptr<const Recipe> recipe;
    try {
      recipe = make_recipe(settings);
    } catch (const std::invalid_argument&) {
      recipe = good_before_controllers(settings, has_controlled, self.stream);
      if (!recipe) throw;
      has_controlled = true;
    }
    lock.lock();
    current = changes == self.changes;
    if (current) {
      self.has_controlled = has_controlled;
      std::swap(self.settings, settings);
      self.stream.publish_locked(recipe);
      self.open = true;
    }
    lock.unlock();
  }
  open_backend(element);
}

void close(GstElement* element) {
  Element& self = element_of(element);
  {
    const std::lock_guard lock(self.mutex);
    self.open = false;
  }
  self.stream.reset();
  self.stream.process().close();
  self.stream.announce();
  self.gpu->clear();
}

}  // namespace convolve
